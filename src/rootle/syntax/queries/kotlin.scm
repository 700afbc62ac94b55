; Captures: see outline.py.
(class_declaration "class" name: (identifier) @name) @box.class
(class_declaration "interface" name: (identifier) @name) @box.interface
(object_declaration name: (identifier) @name) @box.object
(companion_object) @box.companion
(function_declaration name: (identifier) @name) @unit.fun
(secondary_constructor) @unit.constructor
(class_body (property_declaration (variable_declaration . (identifier) @name)) @unit.val)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @unit.val)
(type_alias type: (identifier) @name)
(enum_entry (identifier) @name)
(line_comment) @comment
(block_comment) @comment
