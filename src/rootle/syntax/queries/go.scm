; Captures: see symbol_outline.py.
(function_declaration name: (identifier) @name) @unit.func
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name) @unit.func
(type_declaration . (type_spec name: (type_identifier) @name) .) @unit.type
(type_spec name: (type_identifier) @name) @unit.type
(type_alias name: (type_identifier) @name)
(method_elem name: (field_identifier) @name)
(source_file (const_declaration (const_spec name: (identifier) @name)))
(source_file (var_declaration (var_spec name: (identifier) @name)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name))))
(call_expression arguments: (argument_list . (interpreted_string_literal) @title (func_literal))) @unit.
(comment) @comment
