; Captures: see outline.py.
(function_definition name: (identifier) @name) @unit.def
(decorated_definition definition: (function_definition name: (identifier) @name)) @unit.def
(class_definition name: (identifier) @name) @box.class
(decorated_definition definition: (class_definition name: (identifier) @name)) @box.class
(module (expression_statement (assignment left: (identifier) @name)))
(module (type_alias_statement left: (type (identifier) @name)))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name))))
(comment) @comment
(module . (expression_statement (string) @doc))
(module . (comment)+ . (expression_statement (string) @doc))
(block . (expression_statement (string) @doc))
