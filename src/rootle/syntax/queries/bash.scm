; Captures: see symbol_outline.py.
(function_definition name: (word) @name) @unit.function
(program (variable_assignment name: (variable_name) @name))
(program (declaration_command (variable_assignment name: (variable_name) @name)))
(comment) @comment
