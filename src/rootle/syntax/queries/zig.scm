; Captures: see symbol_outline.py.
(function_declaration name: (identifier) @name) @unit.fn
(variable_declaration . (identifier) @name
  [(struct_declaration) (enum_declaration) (union_declaration) (opaque_declaration)]) @box.const
(struct_declaration (variable_declaration . (identifier) @name))
(source_file (variable_declaration . (identifier) @name))
(test_declaration (string) @title) @unit.test
(test_declaration (identifier) @title) @unit.test
(comment) @comment
