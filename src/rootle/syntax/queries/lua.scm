; Captures: see symbol_outline.py.
(function_declaration name: (_) @name) @unit.function
(assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @unit.function
(variable_declaration (assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition)))) @unit.function
(field name: (identifier) @name value: (function_definition)) @unit.function
; `local x = require("x")` imports a name that another file defines.
(chunk (variable_declaration (assignment_statement
  (variable_list name: (identifier) @name) (expression_list) @_value))
  (#not-match? @_value "^require[^A-Za-z0-9_]"))
(comment) @comment
