; Captures: see symbol_outline.py.
(function_item name: (identifier) @name) @unit.fn
(function_signature_item name: (identifier) @name) @unit.fn
(struct_item name: (type_identifier) @name) @unit.struct
(enum_item name: (type_identifier) @name) @unit.enum
(union_item name: (type_identifier) @name) @unit.union
(trait_item name: (type_identifier) @name) @box.trait
(impl_item type: (_) @title) @box.impl
(mod_item name: (identifier) @name body: (_)) @box.mod
(mod_item name: (identifier) @name !body)
(macro_definition name: (identifier) @name) @unit.macro
(type_item name: (type_identifier) @name)
(associated_type name: (type_identifier) @name)
(const_item name: (identifier) @name)
(static_item name: (identifier) @name)
(enum_variant name: (identifier) @name)
(attribute_item) @attach
(line_comment) @comment
(block_comment) @comment
