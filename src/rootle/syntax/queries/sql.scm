; Captures: see symbol_outline.py.
(statement (create_table (object_reference name: (identifier) @name))) @unit.table
(statement (create_view (object_reference name: (identifier) @name))) @unit.view
(statement (create_materialized_view (object_reference name: (identifier) @name))) @unit.view
(statement (create_function (object_reference name: (identifier) @name))) @unit.function
(statement (create_procedure (object_reference name: (identifier) @name))) @unit.procedure
(statement (create_trigger
  (keyword_trigger) . (object_reference name: (identifier) @name))) @unit.trigger
(statement (create_type (object_reference name: (identifier) @name))) @unit.type
(statement (create_schema (identifier) @name)) @unit.schema
(statement (create_index column: (identifier) @name)) @unit.index
(comment) @comment
(marginalia) @comment
