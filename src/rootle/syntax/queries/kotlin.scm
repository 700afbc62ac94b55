; Captures: see symbol_outline.py.
(class_declaration "class" name: (identifier) @name) @box.class
(class_declaration "interface" name: (identifier) @name) @box.interface
(object_declaration name: (identifier) @name) @box.object
(companion_object) @box.companion
(companion_object name: (identifier) @name)
(function_declaration name: (identifier) @name) @unit.fun
(secondary_constructor) @unit.constructor
(class_body (property_declaration (variable_declaration . (identifier) @name)) @unit.val)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @unit.val)
; The grammar can read a class with annotations and without a body as an infix expression.
((infix_expression (_) (identifier) @_word (identifier) @name) @unit.class (#eq? @_word "class"))
(type_alias type: (identifier) @name)
(enum_entry (identifier) @name)
(line_comment) @comment
(block_comment) @comment
