; Captures: see outline.py.
(script_element) @unit.script
(style_element) @unit.style
(comment) @comment
