; Captures: see symbol_outline.py.
(declarations (function name: (_) @name) @unit.)
(declarations (function (infix operator: (operator) @name)) @unit.)
(declarations (bind name: (_) @name) @unit.)
(data_type name: (_) @name) @unit.data
(newtype name: (_) @name) @unit.newtype
(type_synonym name: (_) @name) @unit.type
(class name: (_) @name) @box.class
(instance name: (_) @title) @box.instance
(class_declarations (signature name: (_) @name))
(data_constructor (_ name: (constructor) @name))
(declarations (signature) @attach)
(comment) @comment
(haddock) @comment
