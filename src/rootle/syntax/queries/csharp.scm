; Captures: see symbol_outline.py.
(namespace_declaration name: (_) @title) @box.namespace
(class_declaration name: (identifier) @name) @box.class
(struct_declaration name: (identifier) @name) @box.struct
(interface_declaration name: (identifier) @name) @box.interface
(record_declaration name: (identifier) @name) @box.record
(enum_declaration name: (identifier) @name) @unit.enum
(delegate_declaration name: (identifier) @name) @unit.delegate
(method_declaration name: (identifier) @name) @unit.method
(constructor_declaration name: (identifier) @name) @unit.constructor
(destructor_declaration name: (identifier) @name) @unit.destructor
(local_function_statement name: (identifier) @name) @unit.function
(property_declaration name: (identifier) @name) @unit.property
(indexer_declaration) @unit.indexer
(operator_declaration) @unit.operator
(event_declaration name: (identifier) @name)
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name)))
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name)))
(enum_member_declaration name: (identifier) @name)
(comment) @comment
