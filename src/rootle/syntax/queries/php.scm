; Captures: see symbol_outline.py.
(namespace_definition name: (_) @title body: (_)) @box.namespace
(class_declaration name: (name) @name) @box.class
(interface_declaration name: (name) @name) @box.interface
(trait_declaration name: (name) @name) @box.trait
(enum_declaration name: (name) @name) @box.enum
(function_definition name: (name) @name) @unit.function
(method_declaration name: (name) @name) @unit.function
(const_declaration (const_element (name) @name))
(property_declaration (property_element name: (variable_name (name) @name)))
(program (expression_statement
  (assignment_expression left: (variable_name (name) @name))))
(enum_case name: (name) @name)
(comment) @comment
