; Captures: see outline.py.
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
(declaration declarator: (function_declarator declarator: (identifier) @name))
(declaration declarator: (pointer_declarator (function_declarator declarator: (identifier) @name)))
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)))
(translation_unit (declaration
  declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))))
(enumerator name: (identifier) @name)
(preproc_def name: (identifier) @name)
(preproc_function_def name: (identifier) @name)
(comment) @comment
