; Captures: see symbol_outline.py.
(function_definition declarator: [
  (function_declarator) (pointer_declarator) (reference_declarator)] @declarator) @unit.
(function_definition declarator: (operator_cast) @title) @unit.
(template_declaration (function_definition declarator: [
  (function_declarator) (pointer_declarator) (reference_declarator)] @declarator)) @unit.
(class_specifier name: (_) @name body: (_)) @box.class
(struct_specifier name: (_) @name body: (_)) @box.struct
(union_specifier name: (_) @name body: (_)) @unit.union
(enum_specifier name: (_) @name body: (_)) @unit.enum
(template_declaration (class_specifier name: (_) @name body: (_))) @box.class
(template_declaration (struct_specifier name: (_) @name body: (_))) @box.struct
(namespace_definition name: (_) @name body: (_)) @box.namespace
(type_definition declarator: (_) @declarator) @unit.typedef
(alias_declaration name: (type_identifier) @name)
(concept_definition name: (identifier) @name)
(declaration declarator: (function_declarator declarator: (identifier) @prototype))
(declaration declarator: (pointer_declarator (function_declarator declarator: (identifier) @prototype)))
(field_declaration declarator: (function_declarator
  declarator: [(field_identifier) (operator_name)] @name))
(field_declaration declarator: (pointer_declarator
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
; Variables at the top level and in namespaces, also below #if.
(translation_unit (declaration declarator: (_) @variable))
(declaration_list (declaration declarator: (_) @variable))
(linkage_specification (declaration declarator: (_) @variable))
(template_declaration (declaration declarator: (_) @variable))
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
