; Captures: see symbol_outline.py.
(script_element) @unit.script
(style_element) @unit.style
(comment) @comment
(attribute (attribute_name) @_word (quoted_attribute_value (attribute_value) @name)
  (#eq? @_word "id"))
