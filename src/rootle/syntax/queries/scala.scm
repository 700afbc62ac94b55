; Captures: see symbol_outline.py.
(class_definition name: (_) @name) @box.class
(object_definition name: (_) @name) @box.object
(trait_definition name: (_) @name) @box.trait
(enum_definition name: (_) @name) @box.enum
(package_object name: (_) @name) @box.package
(function_definition name: (_) @name) @unit.def
(function_declaration name: (_) @name) @unit.def
(given_definition name: (_) @name) @unit.given
(extension_definition) @box.extension
(type_definition name: (type_identifier) @name)
(template_body (val_definition pattern: (identifier) @name))
(template_body (var_definition pattern: (identifier) @name))
(compilation_unit (val_definition pattern: (identifier) @name))
(full_enum_case name: (_) @name)
(simple_enum_case name: (_) @name)
(comment) @comment
(block_comment) @comment
