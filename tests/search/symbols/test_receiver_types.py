"""The types of receivers are read from the declarations of the repository, part by part.

Each sample has two classes with a method `save`. The uses of `Store.save` in a line with a "+" are
resolved, those in a line with a "?" are listed by name, and those in other lines are not listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.search.symbols import scan_limits
from rootle.serialization.symbols import definition_lines, describe_definitions, describe_uses

GO = {
    "store/store.go": """\
package store

type Store struct{ name string }

func (s *Store) Save() error { return nil }

func New(name string) (*Store, error) { return nil, nil }

type File struct{}

func (f *File) Save() error { return nil }

type Saver interface{ Save() error }

type Files []*File
""",
    "app/app.go": """\
package app

import "example.org/app/store"

type Base struct{ *store.Store }

type Inner struct {
	state *store.Store
	file  store.File
	saver store.Saver
	list  []*store.Store
	files store.Files
}

type App struct {
	Base
	inner *Inner
}

func (a *App) State() *store.Store { return a.inner.state }

func (a *App) Run(other *App) {
	a.inner.state.Save() // +
	a.inner.file.Save()
	a.inner.saver.Save() // ?
	other.inner.list[0].Save() // +
	other.State().Save() // +
	a.inner.missing.Save() // ?
	made, err := store.New("a")
	made.Save() // +
	(&store.File{}).Save()
	for _, one := range a.inner.list {
		one.Save() // +
	}
	for _, one := range a.inner.files {
		one.Save()
	}
	other.Save() // +
	func(made *store.File) { made.Save() }(nil)
	switch one := err.(type) {
	case *store.Store:
		one.Save() // ?
	}
}
""",
}
JAVA = {
    "src/a/Store.java": "package a;\n\npublic class Store {\n    public void save() {\n    }\n\n"
    "    public static Store create() {\n        return null;\n    }\n}\n",
    "src/a/File.java": "package a;\n\npublic class File {\n    public void save() {\n    }\n}\n",
    "src/b/App.java": """\
package b;

import a.File;
import a.Store;
import java.util.List;

class Inner {
    final Store state = null;
    File file;
    List<Store> list;

    Store state() {
        return state;
    }
}

class App {
    private final Inner inner;
    private File state;

    void run(App other) {
        this.inner.state.save(); // +
        inner.file.save();
        other.inner.state().save(); // +
        state.save();
        var made = Store.create();
        made.save(); // +
        for (var one : inner.list) {
            one.save(); // +
        }
        inner.missing.save(); // ?
        inner.list.forEach(one -> one.save()); // ?
    }
}
""",
}
KOTLIN = {
    "src/Store.kt": "class Store {\n    fun save() {}\n    companion object {\n"
    "        fun open(): Store = Store()\n    }\n}\n\nclass File {\n    fun save() {}\n}\n",
    "src/App.kt": """\
class Inner(val state: Store, val file: File?)

class App(private val inner: Inner) {
    val made = Store.open()

    fun run(other: App) {
        this.inner.state.save() // +
        inner.file?.save()
        other.made.save() // +
        val one = File()
        one.save()
        inner.missing.save() // ?
    }
}
""",
}
CSHARP = {
    "src/Store.cs": "namespace A;\n\npublic class Store\n{\n    public void Save() { }\n}\n\n"
    "public class File\n{\n    public void Save() { }\n}\n",
    "src/App.cs": """\
namespace A;

public class Inner
{
    public Store State { get; set; }
    private readonly File _file;

    public void Run(Inner other)
    {
        this.State.Save(); // +
        _file.Save();
        other?.State.Save(); // +
        var made = new Inner();
        made.State.Save(); // +
        made.Missing.Save(); // ?
    }
}
""",
}
TYPESCRIPT = {
    "src/store.ts": "export class Store {\n  save(): void {}\n}\n\n"
    "export class File {\n  save(): void {}\n}\n\n"
    "export async function load(): Promise<Store> {\n  return new Store()\n}\n",
    "src/app.ts": """\
import { File, load, Store } from './store'

class Inner {
  file = new File()
  constructor(readonly state: Store, plain: Store) {}
}

export class App {
  private inner: Inner

  async run(other?: App, stores: Store[]) {
    this.inner.state.save() // +
    this.inner.file.save()
    other?.inner!.state.save() // +
    this.inner.plain.save() // ?
    const made = await load()
    made.save() // +
    for (const one of stores) {
      one.save() // +
    }
    stores.forEach((made) => made.save()) // ?
  }
}
""",
}
PYTHON = {
    "pkg/__init__.py": "",
    "pkg/store.py": "class Store:\n    def save(self):\n        pass\n\n\n"
    "class File:\n    def save(self):\n        pass\n\n\n"
    "def load() -> Store:\n    return Store()\n",
    "pkg/app.py": """\
from pkg.store import File, Store, load


class Inner:
    file: File

    def __init__(self, state: Store, other=None):
        self.state = state
        self.other = other
        self.made = load()

    @property
    def current(self) -> "Store | None":
        return self.state


class App:
    def __init__(self, inner: Inner):
        self.inner = inner

    def run(self, stores: list[Store]):
        self.inner.state.save()  # +
        self.inner.file.save()
        self.inner.current.save()  # +
        self.inner.made.save()  # +
        self.inner.other.save()  # ?
        one = File()
        one.save()
        for each in stores:
            each.save()  # +
""",
}
RUST = {
    "src/store.rs": "#[derive(Default)]\npub struct Store;\n\nimpl Store {\n"
    "    pub fn save(&self) {}\n\n    pub fn new() -> Self {\n        Store\n    }\n}\n\n"
    "pub struct File;\n\nimpl File {\n    pub fn save(&self) {}\n}\n",
    "src/app.rs": """\
use crate::store::{File, Store};
use std::sync::{Arc, Mutex};

pub struct Inner<'a> {
    state: Arc<Store>,
    locked: Mutex<Store>,
    file: &'a File,
}

pub struct App<'a> {
    inner: Inner<'a>,
}

impl<'a> App<'a> {
    pub fn run(&self, other: &App<'a>) {
        self.inner.state.save(); // +
        self.inner.file.save();
        other.inner.locked.lock().unwrap().save(); // +
        let made = Store::new();
        made.save(); // +
        Store::default().save(); // +
        self.inner.missing.save(); // ?
    }
}
""",
}
PHP = {
    "src/Store.php": "<?php\nnamespace A;\n\nclass Store\n{\n    public function save() {}\n}\n",
    "src/File.php": "<?php\nnamespace A;\n\nclass File\n{\n    public function save() {}\n}\n",
    "src/App.php": """\
<?php
namespace A;

class Inner
{
    public ?File $file;

    public function __construct(public Store $state)
    {
    }
}

class App
{
    private Inner $inner;

    public function run(App $other): void
    {
        $this->inner->state->save(); // +
        $this->inner->file->save();
        $other->inner->state->save(); // +
        $made = new Inner($other);
        $made->state->save(); // +
        $made->missing->save(); // ?
    }
}
""",
}


def _find_marked(files: Mapping[str, str], mark: str) -> list[str]:
    return [
        f"{path}:{number}"
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if line.endswith((f"// {mark}", f"# {mark}"))
    ]


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (GO, "Store.Save"),
        (JAVA, "Store.save"),
        (KOTLIN, "Store.save"),
        (CSHARP, "Store.Save"),
        (TYPESCRIPT, "Store.save"),
        (PYTHON, "Store.save"),
        (RUST, "Store.save"),
        (PHP, "Store.save"),
    ],
    ids=["go", "java", "kotlin", "csharp", "typescript", "python", "rust", "php"],
)
def test_the_type_of_a_receiver_is_followed_through_declarations(
    files: Mapping[str, str], name: str
) -> None:
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols(name, "uses", limit=300).uses
    calls = [one for one in uses if one.kind == "call"]
    resolved = sorted(f"{one.path}:{one.line}" for one in calls if one.target)
    by_name = sorted(f"{one.path}:{one.line}" for one in calls if not one.target)
    assert resolved == sorted(_find_marked(files, "+"))
    assert by_name == sorted(_find_marked(files, "?"))


def test_a_variable_of_a_base_class_may_have_a_value_of_the_class() -> None:
    files = {
        "a/Producer.java": "package a;\n\npublic interface Producer {\n    void flush();\n}\n",
        "a/Real.java": "package a;\n\npublic class Real implements Producer {\n"
        "    public void flush() {\n    }\n}\n",
        "b/App.java": "package b;\n\nimport a.Producer;\n\nclass App {\n    Producer field;\n\n"
        "    void run(Producer producer) {\n        producer.flush();\n"
        "        this.field.flush();\n    }\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("Real.flush", "uses").uses
        assert [(one.line, one.target) for one in uses] == [(9, ""), (10, "")]
        uses = app.symbols("Producer.flush", "uses").uses
        assert [one.line for one in uses if one.target == "a/Producer.java:4"] == [9, 10]


def test_a_limit_on_the_files_with_types_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace(scan_limits.FULL_SCAN, type_chars=0)
    monkeypatch.setattr("rootle.search.symbols.finder.FULL_SCAN", limits)
    files = {
        "store/store.go": GO["store/store.go"],
        "app/inner.go": 'package app\n\nimport "example.org/app/store"\n\n'
        "type Inner struct{ state *store.Store }\n",
        "app/app.go": "package app\n\nfunc Run(inner *Inner) {\n\tinner.state.Save()\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Store.Save", "uses")
    assert [one.line for one in answer.uses] == [4]
    assert not answer.has_all_types
    assert describe_uses(answer).endswith(", and not all types were looked up")


def test_an_alias_is_not_counted_as_another_definition() -> None:
    files = {
        "src/hive.ts": "export class Hive {\n  open(): void {}\n}\n",
        "src/index.ts": "export { Hive as HiveBase } from './hive'\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("HiveBase")
    assert describe_definitions(answer).startswith("1 definition and 1 alias of HiveBase")
    assert [line.endswith("(alias of Hive)") for line in definition_lines(answer.definitions)] == [
        False,
        True,
    ]
