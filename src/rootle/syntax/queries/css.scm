; Captures: see symbol_outline.py.
(rule_set (selectors) @title) @unit.
(media_statement) @box.
(supports_statement) @box.
(at_rule (block)) @box.
(keyframes_statement (keyframes_name) @name) @unit.keyframes
(class_selector (class_name) @name)
(id_selector (id_name) @name)
(comment) @comment
