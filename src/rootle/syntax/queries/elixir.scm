; Captures: see symbol_outline.py.
((call target: (identifier) @_word
  (arguments . (alias) @name)) @box.module
  (#any-of? @_word "defmodule" "defprotocol"))
((call target: (identifier) @_word (arguments . (alias) @title)) @box.impl
  (#eq? @_word "defimpl"))
((call target: (identifier) @_word
  (arguments . [(identifier) @name (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))
    (binary_operator left: (identifier) @name)])) @unit.def
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate"))
((call target: (identifier) @_word (arguments . (string) @title) (do_block)) @unit.test
  (#any-of? @_word "test" "describe" "property"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word)) @attach
  (#any-of? @_word "doc" "spec" "impl" "typedoc" "deprecated"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word
  (arguments [(string) (sigil)] @doc)))
  (#any-of? @_word "doc" "moduledoc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_word
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)]))))
  (#any-of? @_word "type" "typep" "opaque" "callback" "macrocallback"))
(comment) @comment
