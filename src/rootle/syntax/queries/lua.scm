; Captures: see symbol_outline.py.
(function_declaration name: (_) @name) @unit.function
(assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @unit.function
(variable_declaration (assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition)))) @unit.function
(field name: (identifier) @name value: (function_definition)) @unit.function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))))
(comment) @comment
