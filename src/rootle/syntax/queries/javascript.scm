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
((expression_statement (assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)])) @unit.
  (#not-match? @name "^(module\\.)?exports$"))
((expression_statement (assignment_expression left: (member_expression) @name
  right: (class))) @box.class
  (#not-match? @name "^(module\\.)?exports$"))
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function) (function_expression) (generator_function)]) @unit.

; CommonJS: the value that a module exports, and the names under which it exports values.
((expression_statement (assignment_expression left: (member_expression) @title
  right: [(arrow_function) (function_expression !name) (generator_function !name)]) @default) @unit.
  (#match? @title "^(module\\.)?exports$"))
((expression_statement (assignment_expression left: (member_expression) @title
  right: (class !name)) @default) @box.class
  (#match? @title "^(module\\.)?exports$"))
(export_statement value: [(arrow_function) (function_expression !name) (generator_function !name)
  (class !name)]) @default
((expression_statement (assignment_expression left: (_) @_left right: [
  (function_expression name: (identifier) @name) (generator_function name: (identifier) @name)
  (assignment_expression right: [
    (function_expression name: (identifier) @name) (generator_function name: (identifier) @name)])
  ])) @unit.function
  (#match? @_left "^(module\\.)?exports$"))
((expression_statement (assignment_expression left: (_) @_left right: [
  (class name: (identifier) @name)
  (assignment_expression right: (class name: (identifier) @name))])) @box.class
  (#match? @_left "^(module\\.)?exports$"))
((assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [(identifier) (member_expression) (call_expression) (new_expression) (object) (array)
    (string) (template_string) (number) (true) (false) (null) (regex) (binary_expression)
    (unary_expression) (ternary_expression) (await_expression)] @_value)
  (#match? @_exports "^(module\\.)?exports$")
  (#not-eq? @name @_value)
  (#not-match? @_value "^(void |require\\b)"))

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
