; Captures: see symbol_outline.py.
(function_definition declarator: [(function_declarator) (pointer_declarator)] @declarator) @unit.
(struct_specifier name: (type_identifier) @name body: (_)) @unit.struct
(union_specifier name: (type_identifier) @name body: (_)) @unit.union
(enum_specifier name: (type_identifier) @name body: (_)) @unit.enum
(type_definition declarator: (_) @declarator) @unit.typedef
(type_definition declarator: (primitive_type) @name)
(declaration declarator: (function_declarator declarator: (identifier) @prototype))
(declaration declarator: (pointer_declarator (function_declarator declarator: (identifier) @prototype)))
; Variables at the top level, also below #if.
(translation_unit (declaration declarator: (_) @variable))
(declaration_list (declaration declarator: (_) @variable))
(linkage_specification (declaration declarator: (_) @variable))
(preproc_if (declaration declarator: (_) @variable))
(preproc_ifdef (declaration declarator: (_) @variable))
(preproc_else (declaration declarator: (_) @variable))
(preproc_elif (declaration declarator: (_) @variable))
; Variables after a macro that the parser cannot parse.
(ERROR (declaration (storage_class_specifier) declarator: (_) @declarator))
(enumerator name: (identifier) @name)
(preproc_def name: (identifier) @name)
(preproc_function_def name: (identifier) @name)
(comment) @comment
