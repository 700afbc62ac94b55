; Captures: see symbol_outline.py.
(function_declaration name: (identifier) @name) @unit.function
(generator_function_declaration name: (identifier) @name) @unit.function
(class_declaration name: (identifier) @name) @box.class
(method_definition name: (_) @name) @unit.method
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @unit.method
(export_statement declaration: (function_declaration name: (identifier) @name)) @unit.function
(export_statement declaration: (class_declaration name: (identifier) @name)) @box.class

; A function or class that gets its name from a variable, an assignment or a key.
(lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @unit.const
(variable_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @unit.var
(lexical_declaration . (variable_declarator name: (identifier) @name value: (class))) @box.class
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]))) @unit.const
(expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)])) @unit.
(expression_statement (assignment_expression left: (member_expression) @name
  right: (class))) @box.class
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function) (function_expression) (generator_function)]) @unit.

; describe("…", () => {…}), it("…", …), app.get("/…", …): the string is the title.
(call_expression arguments: (arguments . (string) @title
  [(arrow_function) (function_expression)])) @unit.

; Names of other module-level variables. `const x = require("x")` imports a name that another file
; defines.
(program (lexical_declaration (variable_declarator name: (identifier) @name value: (_)? @_value))
  (#not-match? @_value "^(await\\s+)?(require|import)\\b"))
(program (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @_value))
  (#not-match? @_value "^(await\\s+)?(require|import)\\b"))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name))))

(comment) @comment
