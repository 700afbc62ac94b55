; Captures: see symbol_outline.py.
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @unit.
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @unit.
(function_definition declarator: (pointer_declarator (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @unit.
(struct_specifier name: (type_identifier) @name body: (_)) @unit.struct
(union_specifier name: (type_identifier) @name body: (_)) @unit.union
(enum_specifier name: (type_identifier) @name body: (_)) @unit.enum
(type_definition declarator: (type_identifier) @name) @unit.typedef
(type_definition declarator: (function_declarator (parenthesized_declarator
  (pointer_declarator (type_identifier) @name)))) @unit.typedef
(type_definition declarator: (pointer_declarator (type_identifier) @name)) @unit.typedef
(type_definition declarator: (primitive_type) @name)
(declaration declarator: (function_declarator declarator: (identifier) @prototype))
(declaration declarator: (pointer_declarator (function_declarator declarator: (identifier) @prototype)))
; Variables at the top level and in namespaces, also below #if.
(translation_unit (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
(translation_unit [
  (preproc_if (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
  (preproc_ifdef (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
  (preproc_ifdef [
    (preproc_if (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
    (preproc_ifdef (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))])])
; Variables after a macro that the parser cannot parse.
(ERROR (declaration (storage_class_specifier) declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
(declaration_list (preproc_ifdef (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])])))
(declaration_list (declaration declarator: [
  (identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (init_declarator declarator: [(identifier) @name
  (pointer_declarator [(identifier) @name (array_declarator declarator: (identifier) @name)])
    (array_declarator declarator: (identifier) @name)])]))
(enumerator name: (identifier) @name)
(preproc_def name: (identifier) @name)
(preproc_function_def name: (identifier) @name)
(comment) @comment
