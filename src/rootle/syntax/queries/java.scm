; Captures: see symbol_outline.py.
(class_declaration name: (identifier) @name) @box.class
(interface_declaration name: (identifier) @name) @box.interface
(enum_declaration name: (identifier) @name) @box.enum
(record_declaration name: (identifier) @name) @box.record
(annotation_type_declaration name: (identifier) @name) @box.annotation
(method_declaration name: (identifier) @name) @unit.method
(constructor_declaration name: (identifier) @name) @unit.constructor
(compact_constructor_declaration name: (identifier) @name) @unit.constructor
(annotation_type_element_declaration name: (identifier) @name)
(field_declaration (variable_declarator name: (identifier) @name))
(constant_declaration (variable_declarator name: (identifier) @name))
(enum_constant name: (identifier) @name)
(line_comment) @comment
(block_comment) @comment
