; Captures: see symbol_outline.py.
(class name: (_) @name) @box.class
(module name: (_) @name) @box.module
(singleton_class value: (_) @title) @box.class
(method name: (_) @name) @unit.def
(singleton_method name: (_) @name) @unit.def
(assignment left: (constant) @name)
(assignment left: (constant) @name right: (call block: (_))) @box.
; describe "…" do … end, it "…" do … end, task :name do … end
(call !receiver
  arguments: (argument_list . [(string) (simple_symbol) (constant) (scope_resolution)] @title)
  block: (do_block)) @unit.
(call !receiver arguments: (argument_list . (string) @title) block: (block)) @unit.
(comment) @comment
