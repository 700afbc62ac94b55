; Captures: see symbol_outline.py.
(function_definition name: (identifier) @name) @unit.def
(decorated_definition definition: (function_definition name: (identifier) @name)) @unit.def
(class_definition name: (identifier) @name) @box.class
(decorated_definition definition: (class_definition name: (identifier) @name)) @box.class
(module (expression_statement (assignment left: (identifier) @name)))
; One pattern per statement is a quarter faster than a single pattern, or than one per branch.
(module (if_statement [
  (block (expression_statement (assignment left: (identifier) @name)))
  (else_clause (block (expression_statement (assignment left: (identifier) @name))))]))
(module (try_statement [
  (block (expression_statement (assignment left: (identifier) @name)))
  (except_clause (block (expression_statement (assignment left: (identifier) @name))))]))
(module (with_statement (block (expression_statement (assignment left: (identifier) @name)))))
(module (type_alias_statement left: (type (identifier) @name)))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name))))
(comment) @comment
(module . (expression_statement (string) @doc))
(module . (comment)+ . (expression_statement (string) @doc))
(block . (expression_statement (string) @doc))
