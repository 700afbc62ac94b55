"""Names in interface descriptions, databases and configuration files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sample import indexed_repository

from rootle import App, open_app

_PROTO = """\
syntax = "proto3";

message Order {
  string sku_code = 1;
  map<string, Tag> all_tags = 2;
  oneof payload {
    bytes raw_body = 3;
  }
}

enum State {
  STATE_PAID = 1;
}

service Orders {
  rpc PlaceOrder(Order) returns (Order);
}
"""
_GRAPHQL = """\
type Invoice {
  total(currency: String): Float!
}

input InvoiceFilter {
  customerName: String
}

enum InvoiceState {
  PAID_OUT
}

type Query {
  findInvoice(id: ID!): Invoice
}
"""
_OPENAPI = """\
openapi: 3.0.0
paths:
  /orders:
    get:
      operationId: listOrders
"""
_OPENAPI_JSON = """\
{
  "openapi": "3.0.0",
  "paths": {
    "/pets": {
      "get": {
        "operationId": "listPets"
      }
    }
  }
}
"""
_SQL = """\
CREATE TABLE orders (
  order_id int,
  "placed_at" timestamp
);

CREATE VIEW paid_orders AS
SELECT order_id AS paid_id FROM orders;
"""
_FILES = {
    "shop.proto": _PROTO,
    "schema.graphql": _GRAPHQL,
    "openapi.yaml": _OPENAPI,
    "pets.json": _OPENAPI_JSON,
    "tables.sql": _SQL,
}


def _open(files: Mapping[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


@pytest.mark.parametrize(
    ("name", "place", "kind", "scope"),
    [
        ("Order", "shop.proto:3", "message", ""),
        ("sku_code", "shop.proto:4", "field", "message Order"),
        ("all_tags", "shop.proto:5", "field", "message Order"),
        ("payload", "shop.proto:6", "oneof", "message Order"),
        ("raw_body", "shop.proto:7", "field", "message Order > oneof payload"),
        ("STATE_PAID", "shop.proto:12", "field", "enum State"),
        ("Orders", "shop.proto:15", "service", ""),
        ("PlaceOrder", "shop.proto:16", "rpc", "service Orders"),
        ("Order.sku_code", "shop.proto:4", "field", "message Order"),
        ("Invoice", "schema.graphql:1", "type", ""),
        ("total", "schema.graphql:2", "field", "type Invoice"),
        ("InvoiceFilter", "schema.graphql:5", "input", ""),
        ("customerName", "schema.graphql:6", "field", "input InvoiceFilter"),
        ("PAID_OUT", "schema.graphql:10", "field", "enum InvoiceState"),
        ("findInvoice", "schema.graphql:14", "field", "type Query"),
        ("listOrders", "openapi.yaml:5", "operation", "paths > /orders"),
        ("listPets", "pets.json:6", "operation", ""),
        ("placed_at", "tables.sql:3", "column", "table orders"),
        ("paid_id", "tables.sql:7", "column", "view paid_orders"),
    ],
)
def test_a_name_is_found_with_its_kind_and_scope(
    name: str, place: str, kind: str, scope: str
) -> None:
    with _open(_FILES) as app:
        (one,) = app.symbols(name).definitions
    assert (f"{one.path}:{one.line}", one.kind, one.scope) == (place, kind, scope)


def test_other_documents_in_json_define_no_operations() -> None:
    with _open({"data.json": '{\n  "id": "listPets"\n}\n'}) as app:
        assert app.symbols("listPets").definitions == ()


def test_models_and_macros_of_dbt_are_found_with_their_uses() -> None:
    files = {
        "models/stg_orders.sql": "{{ config(materialized='view') }}\nselect 1 as id\n",
        "models/orders.sql": "select {{ in_cents('total') }}\nfrom {{ ref('stg_orders') }}\n",
        "macros/money.sql": "{% macro in_cents(amount) %}\n  {{ amount }} / 100\n{% endmacro %}\n",
        "other.sql": "select 1;\n",
    }
    with _open(files) as app:
        model, macro = app.symbols("stg_orders", "uses"), app.symbols("in_cents", "uses")
        (other,) = app.symbols("orders").definitions
        none = app.symbols("other").definitions
    (definition,) = model.definitions
    assert (definition.path, definition.line, definition.end_line) == (
        "models/stg_orders.sql",
        1,
        2,
    )
    assert definition.kind == "model"
    assert [(one.path, one.line, one.target) for one in model.uses] == [
        ("models/orders.sql", 2, "models/stg_orders.sql:1")
    ]
    (definition,) = macro.definitions
    assert (definition.path, definition.line, definition.kind) == ("macros/money.sql", 1, "macro")
    assert [(one.path, one.line) for one in macro.uses] == [("models/orders.sql", 1)]
    assert other.path == "models/orders.sql"
    assert none == ()


def test_keys_of_a_configuration_file_of_php_are_found() -> None:
    files = {
        "config/mail.php": "<?php\n\nreturn [\n    'timeout_s' => 30,\n"
        "    'smtp' => ['relay_host' => 'a'],\n];\n",
        "app.php": "<?php\n\nconfig('mail.timeout_s');\n$options = ['relay_host' => 'b'];\n",
    }
    with _open(files) as app:
        (timeout,) = app.symbols("timeout_s").definitions
        (host,) = app.symbols("relay_host").definitions
    assert (timeout.path, timeout.line) == ("config/mail.php", 4)
    assert (host.path, host.line) == ("config/mail.php", 5)


def test_a_class_of_php_has_the_members_of_the_traits_that_it_uses() -> None:
    files = {
        "Counts.php": "<?php\n\ntrait Counts\n{\n    public function count()\n    {\n    }\n}\n",
        "Store.php": "<?php\n\nuse App\\Other;\n\nclass Store\n{\n    use Counts;\n\n"
        "    public function __construct(private int $limit)\n    {\n    }\n\n"
        "    public function run()\n    {\n        $this->count();\n"
        "        return $this->limit;\n    }\n}\n",
        "Other.php": "<?php\n\nclass Other\n{\n    public function count()\n    {\n    }\n}\n",
    }
    with _open(files) as app:
        (count,) = app.symbols("Store.count").definitions
        uses = app.symbols("count", "uses").uses
        (limit,) = app.symbols("limit", "uses").uses
    assert (count.path, count.line) == ("Counts.php", 5)
    assert [(one.path, one.line, one.target) for one in uses] == [("Store.php", 15, "Counts.php:5")]
    assert (limit.line, limit.target) == (16, "Store.php:9")


def test_attributes_of_python_that_are_set_by_name_are_found() -> None:
    files = {
        "shop.py": "class Shop:\n    def __init__(self):\n        setattr(self, 'open_hours', 8)\n"
        "        setattr(other, 'price_list', 1)\n\n\n"
        "def __getattr__(name):\n    if name == 'late_fee':\n        return 3\n    return None\n",
    }
    with _open(files) as app:
        (hours,) = app.symbols("Shop.open_hours").definitions
        (fee,) = app.symbols("late_fee").definitions
        prices = app.symbols("price_list").definitions
    assert (hours.line, hours.kind) == (3, "attribute")
    assert fee.line == 8
    assert prices == ()


def test_fields_that_a_constructor_of_typescript_declares_are_found() -> None:
    files = {
        "shop.ts": "export class Shop {\n  constructor(private readonly store: Store, size: number)"
        " {}\n\n  fill() {\n    return this.store;\n  }\n}\n",
        "index.ts": "export * as shopping from './shop';\n",
    }
    with _open(files) as app:
        answer = app.symbols("Shop.store", "uses")
        sizes = app.symbols("size").definitions
        (namespace,) = app.symbols("shopping").definitions
    (store,) = answer.definitions
    assert (store.line, store.kind, store.scope) == (2, "field", "class Shop")
    assert [(one.line, one.target) for one in answer.uses] == [(5, "shop.ts:2")]
    assert sizes == ()
    assert (namespace.path, namespace.kind) == ("index.ts", "export")
