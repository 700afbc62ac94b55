"""Definitions become chunks with symbols and scopes, in every language with a grammar."""

from __future__ import annotations

import pytest

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.syntax.grammars import GRAMMARS, load_grammar

# The limit is so small that even a sample of a few lines does not fit into one chunk.
NARROW = ChunkLimits(max_chars=120)

SAMPLES: dict[str, str] = {
    "astro": """\
---
const title = "A shop with many things that nobody needs";

function greet(name: string) { return `Welcome to our shop, dear ${name}!`; }
---
<h1>{title}</h1>
""",
    "bash": """\
#!/bin/bash
VERSION=1.2

# Print how to use it, then leave with an error.
usage() {
  echo "usage: $0 [-h] command"; exit 2
}

function start_server() {
  echo "starting the server on port $PORT in the background"
  serve --port "$PORT" &
}
""",
    "c": """\
#include <stdio.h>
#define MAX_ITEMS 64
typedef struct node { int key; struct node *next; } node_t;

/* Add a node at the head of the list, and return it. */
static node_t *list_push(node_t *head, int key)
{
    return make_node(key, head);
}

int list_length(const node_t *head) {
    int n = 0; while (head) { n++; head = head->next; }
    return n;
}
""",
    "cpp": """\
namespace shop {
template <typename T>
class Basket : public Base {
 public:
  explicit Basket(T first) : first_(first), items_(), total_(0) {}
  int total() const { return total_ + sum_of(items_) + delivery(); }
};

// Add an article to the basket, unless it is in there already.
void Basket::add(const Article& article) { items_.push_back(article); }
}  // namespace shop
""",
    "csharp": """\
namespace Shop.Web
{
    /// <summary>A basket of articles.</summary>
    public class Basket : IBasket
    {
        public int Total { get; set; }
        [Obsolete("use AddAll instead, which checks the stock as well")]
        public void Add(Article article) { items.Add(article); }

        public Basket(int total) { Total = total; Log("new basket of a customer"); }
    }
}
""",
    "css": """\
/* The navigation at the top of each page. */
.navigation, #menu { display: flex; justify-content: space-between; margin: 0; }

@media (max-width: 600px) {
  .navigation a:hover { color: red; text-decoration: underline; font-weight: bold; }
  .footer { display: none; padding: 0; border-top: 1px solid black; color: grey; }
}
""",
    "elixir": """\
defmodule Shop.Basket do
  @moduledoc "A basket of articles that a customer fills before he pays."
  @type t :: map

  @doc "Add an article to the basket."
  @spec add(t, term) :: t
  def add(basket, article) when is_map(basket), do: Map.put(basket, article, 1)

  defp total(basket) do
    Enum.reduce(basket, 0, fn {_, count}, sum -> sum + count end)
  end
end
""",
    "go": """\
package shop

const MaxItems = 64

// Basket is what a customer fills before paying.
type Basket struct {
	Items []Article
}

// Add puts an article into the basket, and counts it.
func (b *Basket) Add(article Article) {
	b.Items = append(b.Items, article)
}

func NewBasket(size int) *Basket {
	return &Basket{Items: make([]Article, 0, size), Currency: "EUR", Open: true}
}
""",
    "haskell": """\
module Shop.Basket (Basket, add) where

-- | What a customer fills before paying for it.
data Basket = Empty | Basket { items :: [Article], currency :: String }

-- | Add an article to a basket.
add :: Article -> Basket -> Basket
add article Empty = Basket [article] "EUR"
add article basket = basket { items = article : items basket }

class Priced a where
  price :: a -> Int
  price _ = defaultPriceOfAnythingThatHasNone
instance Priced Basket where
  price = sum . map price . items . withoutGifts . withoutReturns
""",
    "html": """\
<!DOCTYPE html>
<html>
<body>
<h1 id="top">The guide to everything that can be bought in this shop</h1>
<section id="install">
<h2>Install</h2>
<p>There is nothing to be installed, of course, as it is a shop and not a program.</p>
</section>
</body>
</html>
""",
    "java": """\
package shop;

/** A basket of articles. */
@Entity
public class Basket extends Base {
    private static final int MAX_ITEMS = 64;

    /** Add an article to the basket. */
    @Override
    public void add(Article article) { this.items.add(article); }

    public Basket(int size) { this.items = new ArrayList<>(size); this.open = true; }
}
""",
    "javascript": """\
import { sum } from "./sum.js";
export const LIMIT = 10;

/** Add two numbers, and check that they are numbers at all. */
export function add(a, b) {
  return sum([number(a), number(b)]);
}

const multiply = async (a, b) => {
  return a * b * factorOfTheDay() * (await factorOfTheHour());
};

class Basket extends Base {
  constructor() { super(); this.items = []; this.currency = "EUR"; this.open = true; }
  total() { return this.items.reduce((sum, item) => sum + item.price * item.count, 0); }
}
describe("a basket", () => {
  it("is empty", () => { // and it has no total that anybody would have to pay
    expect(new Basket().total()).toBe(0);
  });
});
""",
    "kotlin": """\
package shop
const val MAX_ITEMS = 64

/** A basket of articles. */
@Serializable
data class Basket(val items: List<Article>) : Base() {
    /** Add an article to the basket. */
    fun add(article: Article): Basket = copy(items = items + article)

    companion object { fun empty(): Basket = Basket(emptyList()) }
}

fun String.toArticle(): Article = Article(name = trim(), price = 0, count = 1, gift = false)
""",
    "lua": """\
local Basket = {}

--- Add an article to the basket.
function Basket:add(article)
  table.insert(self.items, article)
end

function Basket.total(basket)
  local sum = 0
  for _, item in ipairs(basket.items) do sum = sum + item.price end
  return sum
end

local is_empty = function(basket) return #basket.items == 0 and basket.total == 0 end
""",
    "php": """\
<?php
namespace Shop;

/** A basket of articles. */
#[Entity]
final class Basket extends Base
{
    const MAX_ITEMS = 64;

    /** Add an article to the basket. */
    public function add(Article $article): void { $this->items[] = $article; }
}

function total(array $items): int { return array_sum(array_map('price_of', $items)); }
""",
    "python": '''\
import os
LIMIT = 10

@cached
def add(a, b):
    """Add two numbers."""
    return number(a) + number(b) + os.extra_of_the_day()

class Basket(Base):
    """What a customer fills before paying for all of it."""
    size = 1

    # Put an article into it.
    def add(self, article):
        self.items.append(article)

    async def total(self):
        return sum([await item.price() for item in self.items])
''',
    "ruby": """\
module Shop
  # A basket of articles.
  class Basket < Base
    MAX_ITEMS = 64

    # Add an article to the basket, and count it.
    def add(article)
      items << article
    end

    def self.empty
      new(items: [], currency: "EUR", open: true, customer: nil, gift: false)
    end
  end
end

describe "a basket" do
  it "is empty" do # and it has no total that anybody would have to pay for
    expect(Basket.empty.items).to be_empty
  end
end
""",
    "rust": """\
use std::fmt;
pub const MAX_ITEMS: usize = 64;

/// What a customer fills before paying.
#[derive(Debug)]
pub struct Basket { items: Vec<Article> }

impl Basket {
    /// Add an article to the basket.
    #[inline]
    pub fn add(&mut self, article: Article) { self.items.push(article); }
}

mod tests {
    fn total() -> u32 { basket().items.iter().map(|item| item.price).sum() }
    macro_rules! basket_of { ($($item:expr),*) => { Basket::from([$($item),*]) } }
}
""",
    "scala": """\
package shop

/** A basket of articles. */
case class Basket(items: List[Article]) extends Base {
  val maxItems = 64

  /** Add an article to the basket. */
  def add(article: Article): Basket = copy(items = article :: items)
}

object Basket {
  def empty: Basket = Basket(items = Nil, currency = "EUR", open = true)
  type Items = List[Article]
}
""",
    "sql": """\
-- Who buys from us.
CREATE TABLE customers (
  id int PRIMARY KEY,
  name text NOT NULL
);

CREATE VIEW active AS
  SELECT id, name FROM customers WHERE last_order > now() - interval '1 year';

CREATE FUNCTION add_one(a int) RETURNS int AS $$
  SELECT a + 1;
$$ LANGUAGE sql;
""",
    "swift": """\
import Foundation

/// A basket of articles.
public struct Basket: Base {
    let maxItems = 64

    /// Add an article to the basket.
    mutating func add(_ article: Article) { items.append(article) }
}

extension Basket: Priced {
    func total() -> Int { return items.map { $0.price }.reduce(0, +) }
    enum Kind { case gift, order }
}
""",
    "tsx": """\
interface Props { items: string[]; onSelect: (item: string) => void; title: string }

/** A list of what is in the basket. */
export const BasketList = ({ items }: Props) => {
  return <ul>{items.map((item) => <li key={item}>{item}</li>)}</ul>;
};

export function Title(props: Props) {
  return <h1 className="title of the page, and of each of its parts">{props.title}</h1>;
}
""",
    "typescript": """\
export type Price = { amount: number; currency: string; taxes: Array<Tax> | undefined };

/** What can be put into a basket, and be taken out of it. */
export interface Basket<T> {
  add(item: T): void;
}

@Injectable()
export class Shop implements Basket<string> {
  private items: string[] = [];
  public add(item: string): void { this.items.push(item); this.changed.emit(item); }
}

export enum Kind { Gift = "gift", Order = "order", Return = "return", Sample = "sample" }
""",
    "svelte": """\
<script>
  export let basket = [];
  function add(article) { basket = [...basket, article, article.gift, article.card]; }
</script>

<button on:click={() => add(article)}>{basket.length} articles in the basket</button>
""",
    "vue": """\
<template>
  <button @click="add(article)">{{ total }} euros for the articles in the basket</button>
</template>

<script setup lang="ts">
const total = ref(0);
function add(article: Article) { total.value += article.price * article.count; }
</script>
""",
    "zig": """\
const std = @import("std");

/// What a customer fills before paying.
pub const Basket = struct {
    items: []Article,

    /// Add an article to the basket.
    pub fn add(self: *Basket, article: Article) void { self.put(article); }
};

test "a basket is empty at first" {
    try std.testing.expectEqual(0, Basket.init(std.testing.allocator).items.len);
}
""",
}


def test_a_short_definition_that_is_joined_with_another_one_affects_the_scope() -> None:
    text = "class Policy:\n    limit = 3\n\n\ndef make_policy():\n    return Policy(limit=7)\n"
    (chunk,) = split_text(text, "python", ChunkLimits()).chunks
    assert (chunk.start_line, chunk.end_line, chunk.scope) == (1, 6, "")


def test_imports_that_are_joined_with_a_definition_do_not_affect_the_scope() -> None:
    text = "import os\n\n\ndef read_limit():\n    return int(os.environ['LIMIT'])\n"
    (chunk,) = split_text(text, "python", ChunkLimits()).chunks
    assert (chunk.start_line, chunk.end_line, chunk.scope) == (1, 5, "def read_limit")


# For each language, the expected chunks: first line, last line, scope, symbols.
EXPECTED: dict[str, list[tuple[int, int, str, str]]] = {
    "astro": [
        (1, 2, "", "title"),
        (4, 6, "function greet", "greet"),
    ],
    "bash": [
        (1, 2, "", "VERSION"),
        (4, 7, "function usage", "usage"),
        (9, 12, "function start_server", "start_server"),
    ],
    "c": [
        (1, 3, "typedef node_t", "MAX_ITEMS node node_t"),
        (5, 6, "list_push", "list_push"),
        (7, 9, "list_push", ""),
        (11, 14, "list_length", "list_length"),
    ],
    "cpp": [
        (1, 4, "namespace shop > class Basket", "shop Basket"),
        (5, 5, "namespace shop > class Basket > Basket", "Basket"),
        (6, 7, "namespace shop > class Basket > total", "total"),
        (9, 9, "namespace shop > Basket::add", "add"),
        (10, 11, "namespace shop > Basket::add", "add"),
    ],
    "csharp": [
        (1, 5, "namespace Shop.Web > class Basket", "Basket"),
        (6, 7, "namespace Shop.Web > class Basket", "Total"),
        (8, 8, "namespace Shop.Web > class Basket > method Add", "Add"),
        (10, 12, "namespace Shop.Web > class Basket > constructor Basket", "Basket"),
    ],
    "css": [
        (1, 1, ".navigation, #menu", ""),
        (2, 2, ".navigation, #menu", "navigation menu"),
        (4, 5, "@media (max-width: 600px) > .navigation a:hover", "navigation"),
        (6, 7, "@media (max-width: 600px) > .footer", "footer"),
    ],
    "elixir": [
        (1, 3, "module Shop.Basket", "Basket t"),
        (5, 6, "module Shop.Basket > def add", "add"),
        (7, 7, "module Shop.Basket > def add", "add"),
        (9, 12, "module Shop.Basket > def total", "total"),
    ],
    "go": [
        (1, 3, "", "MaxItems"),
        (5, 8, "type Basket", "Basket"),
        (10, 11, "func Basket.Add", "Add"),
        (12, 13, "func Basket.Add", ""),
        (15, 17, "func NewBasket", "NewBasket"),
    ],
    "haskell": [
        (1, 1, "", ""),
        (3, 4, "data Basket", "Basket Empty"),
        (6, 8, "add", "add"),
        (9, 9, "add", "add"),
        (11, 13, "class Priced", "Priced price"),
        (14, 15, "instance Priced", ""),
    ],
    "html": [
        (1, 4, "The guide to everything that can be bought in this shop", "top"),
        (5, 6, "The guide to everything that can be bought in this shop > Install", "install"),
        (7, 10, "The guide to everything that can be bought in this shop > Install", ""),
    ],
    "java": [
        (1, 1, "", ""),
        (3, 6, "class Basket", "Basket MAX_ITEMS"),
        (8, 10, "class Basket > method add", "add"),
        (12, 13, "class Basket > constructor Basket", "Basket"),
    ],
    "javascript": [
        (1, 2, "", "LIMIT"),
        (4, 5, "function add", "add"),
        (6, 7, "function add", ""),
        (9, 11, "const multiply", "multiply"),
        (13, 14, "class Basket > method constructor", "Basket constructor"),
        (15, 16, "class Basket > method total", "total"),
        (17, 17, "a basket", ""),
        (18, 19, "a basket > is empty", ""),
        (20, 21, "a basket > is empty", ""),
    ],
    "kotlin": [
        (1, 2, "val MAX_ITEMS", "MAX_ITEMS"),
        (4, 6, "class Basket", "Basket"),
        (7, 8, "class Basket > fun add", "add"),
        (10, 11, "class Basket > companion", "empty"),
        (13, 13, "fun toArticle", "toArticle"),
    ],
    "lua": [
        (1, 1, "", "Basket"),
        (3, 6, "function Basket:add", "add"),
        (8, 8, "function Basket.total", "total"),
        (9, 12, "function Basket.total", ""),
        (14, 14, "function is_empty", "is_empty"),
    ],
    "php": [
        (1, 2, "", ""),
        (4, 8, "class Basket", "Basket MAX_ITEMS"),
        (10, 11, "class Basket > function add", "add"),
        (12, 12, "class Basket", ""),
        (14, 14, "function total", "total"),
    ],
    "python": [
        (1, 2, "", "LIMIT"),
        (4, 7, "def add", "add"),
        (9, 11, "class Basket", "Basket size"),
        (13, 15, "class Basket > def add", "add"),
        (17, 18, "class Basket > def total", "total"),
    ],
    "ruby": [
        (1, 4, "module Shop > class Basket", "Shop Basket MAX_ITEMS"),
        (6, 9, "module Shop > class Basket > def add", "add"),
        (11, 15, "module Shop > class Basket > def empty", "empty"),
        (17, 17, "a basket", ""),
        (18, 19, "a basket > is empty", ""),
        (20, 21, "a basket > is empty", ""),
    ],
    "rust": [
        (1, 2, "", "MAX_ITEMS"),
        (4, 6, "struct Basket", "Basket"),
        (8, 10, "impl Basket > fn add", "add"),
        (11, 12, "impl Basket > fn add", "add"),
        (14, 15, "mod tests > fn total", "tests total"),
        (16, 17, "mod tests > macro basket_of", "basket_of"),
    ],
    "scala": [
        (1, 5, "class Basket", "Basket maxItems"),
        (7, 9, "class Basket > def add", "add"),
        (11, 14, "object Basket", "Basket empty Items"),
    ],
    "sql": [
        (1, 5, "table customers", "customers"),
        (7, 8, "view active", "active"),
        (10, 12, "function add_one", "add_one"),
    ],
    "swift": [
        (1, 5, "struct Basket > var maxItems", "Basket maxItems"),
        (7, 9, "struct Basket > func add", "add"),
        (11, 12, "extension Basket > func total", "total"),
        (13, 14, "extension Basket > enum Kind", "Kind gift order"),
    ],
    "tsx": [
        (1, 1, "interface Props", "Props"),
        (3, 4, "const BasketList", "BasketList"),
        (5, 6, "const BasketList", ""),
        (8, 8, "function Title", "Title"),
        (9, 10, "function Title", ""),
    ],
    "typescript": [
        (1, 1, "type Price", "Price"),
        (3, 6, "interface Basket", "Basket add"),
        (8, 10, "class Shop", "Shop"),
        (11, 12, "class Shop > method add", "add"),
        (14, 14, "enum Kind", "Kind Gift Order Return Sample"),
    ],
    "svelte": [(1, 2, "", "basket"), (3, 3, "function add", "add"), (4, 6, "", "")],
    "vue": [(1, 3, "", ""), (5, 6, "", "total"), (7, 8, "function add", "add")],
    "zig": [
        (1, 5, "const Basket", "std Basket"),
        (7, 9, "const Basket > fn add", "add"),
        (11, 13, "test a basket is empty at first", ""),
    ],
}


@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_every_query_compiles_against_its_grammar(language: str) -> None:
    assert load_grammar(language).query.pattern_count > 0


def test_every_language_with_a_grammar_has_a_sample() -> None:
    assert set(SAMPLES) == set(EXPECTED) == set(GRAMMARS)


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_a_sample_is_split_at_its_definitions(language: str) -> None:
    chunked = split_text(SAMPLES[language], language, NARROW)
    assert chunked.parsed
    assert [
        (chunk.start_line, chunk.end_line, chunk.scope, " ".join(chunk.symbols))
        for chunk in chunked.chunks
    ] == EXPECTED[language]
