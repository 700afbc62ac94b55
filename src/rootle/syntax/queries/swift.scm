; Captures: see symbol_outline.py.
(class_declaration declaration_kind: "extension" name: (_) @title) @box.extension
(class_declaration declaration_kind: "class" name: (type_identifier) @name) @box.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @box.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @box.enum
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @box.actor
(protocol_declaration name: (type_identifier) @name) @box.protocol
(function_declaration (simple_identifier) @name) @unit.func
(protocol_function_declaration name: (simple_identifier) @name) @unit.func
(init_declaration "init" @name) @unit.
(deinit_declaration) @unit.deinit
(subscript_declaration) @unit.subscript
(source_file (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @unit.var)
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @unit.var)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)) @unit.var)
(typealias_declaration name: (type_identifier) @name)
(enum_entry name: (simple_identifier) @name)
(comment) @comment
(multiline_comment) @comment
