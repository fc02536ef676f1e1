"""The layout stands still, keeps its rules, and is the one the live picture uses."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import astuple
from pathlib import Path

import pytest

from tensorlab.display.layout import layout
from tensorlab.display.outline import Outline
from tensorlab.observe import wire
from tensorlab.observe.stored import with_storages
from tests.documents import attention, encoder, graph_of, node, parameter, perceptron, recurrent, tangle

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    "nothing": graph_of([]),
    "one node": graph_of([node("SumBackward0", kind="root", label="loss", shape="[]")]),
    "perceptron": perceptron(),
    "recurrent": recurrent(40),
    "encoder": encoder(12),
    "tangle": tangle(300, reach=10),
    "wide tangle": tangle(120),
    "attention": attention(6),
    "attention with storages": with_storages(attention(6)),
}


def overlapping(picture) -> list:
    boxes = picture.boxes
    return [
        (one.title, other.title)
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if one.x < other.x + other.w and other.x < one.x + one.w and one.y < other.bottom and other.y < one.bottom
    ]


@pytest.mark.parametrize("graph", DOCUMENTS.values(), ids=DOCUMENTS)
def test_boxes_never_overlap_and_time_always_falls(graph):
    outline = Outline(graph)
    for folded in (outline.default_folds(), frozenset(), frozenset(range(len(outline.folds)))):
        picture = layout(outline, folded)
        assert not overlapping(picture)
        for edge in picture.edges:
            assert picture.boxes[edge.source].y < picture.boxes[edge.target].y
        for box in picture.boxes:
            assert 24 <= box.x
            assert box.x + box.w <= picture.width - 24
            assert box.bottom <= picture.height - 24


def test_parameters_become_badges_of_their_consumer():
    picture = layout(Outline(perceptron()))
    first = next(box for box in picture.boxes if box.title == "AddmmBackward0")
    assert [badge.text for badge in first.badges] == ["W 16×2", "b 16"]
    assert len(picture.boxes) == 7


def test_many_parameters_of_one_node_are_counted():
    nodes = [parameter(f"p{at}", "[2]") for at in range(9)]
    nodes.append(node("CatBackward0", *range(9), kind="root"))
    (box,) = layout(Outline(graph_of(nodes))).boxes
    assert [badge.text for badge in box.badges] == ["p0 2", "p1 2", "+7"]


def test_equal_layers_fold_to_one_box_with_a_count():
    outline = Outline(encoder(60))
    picture = layout(outline)
    assert [box.title for box in picture.boxes] == ["x", "×60 EncoderLayer", "SumBackward0"]


def test_loop_steps_without_modules_fold_too():
    picture = layout(Outline(recurrent(100)))
    assert "×100 steps" in [box.title for box in picture.boxes]


def test_every_fold_can_be_opened_alone():
    outline = Outline(encoder(4))
    everything = frozenset(range(len(outline.folds)))
    closed = layout(outline, everything)
    opened = [layout(outline, everything - {fold}) for fold in everything]
    assert all(len(picture.boxes) >= len(closed.boxes) for picture in opened)
    assert any(len(picture.boxes) > len(closed.boxes) for picture in opened)


def test_twenty_thousand_nodes_in_a_row_need_no_recursion():
    chain = graph_of([node("ExpBackward0", *([at - 1] if at else []), group=-1) for at in range(20_000)])
    assert len(layout(Outline(chain), frozenset()).boxes) == 20_000


def test_layouts_are_equal_each_time():
    one, other = (layout(Outline(encoder(5))) for _ in range(2))
    assert astuple(one) == astuple(other)


def test_the_live_picture_has_the_same_numbers(tmp_path):
    bundler = ROOT / "node_modules" / ".bin" / "esbuild"
    if not bundler.exists() or not shutil.which("node"):
        pytest.skip("needs node and the packages of package.json (npm install)")
    entry = ROOT / "widgets" / "shared" / "layout.ts"
    (tmp_path / "entry.mjs").write_text(
        "".join(
            f"export * from {json.dumps(str(entry.with_name(name)))};\n"
            for name in ("layout.ts", "outline.ts", "stored.ts")
        )
    )
    subprocess.run(
        [bundler, "entry.mjs", "--bundle", "--format=esm", "--outfile=bundle.mjs", "--log-level=error"],
        cwd=tmp_path,
        check=True,
    )
    (tmp_path / "graphs.json").write_text(json.dumps({name: wire.to_json(graph) for name, graph in DOCUMENTS.items()}))
    (tmp_path / "run.mjs").write_text(RUN)
    found = subprocess.run(["node", "run.mjs"], cwd=tmp_path, check=True, capture_output=True, text=True)
    live = json.loads(found.stdout)
    assert live["attention"]["stored"] == wire.to_json(DOCUMENTS["attention with storages"])
    for name, graph in DOCUMENTS.items():
        for case in live[name]["layers"]:
            assert numbers(layout(Outline(graph, case["layer"], case["room"]))) == case["layout"], (name, case["layer"])
        outline = Outline(graph)
        assert sorted(outline.default_folds()) == live[name]["defaults"], name
        for case in live[name]["cases"]:
            assert numbers(layout(outline, frozenset(case["folded"]))) == case["layout"], name


RUN = """
import { readFileSync } from 'node:fs';
import { defaultFolds, layoutOf, outlineOf, withStorages } from './bundle.mjs';
const plain = document => JSON.parse(JSON.stringify(document, (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)));
const told = (outline, folded) => {
  const { width, height, boxes, edges, enclosures, pointsOf } = layoutOf(outline, new Set(folded));
  return {
    width,
    height,
    boxes: boxes.map(b => [
      b.title, b.subtitle, b.x, b.y, b.w, b.layer, b.home, b.badges.map(a => [a.node, a.text, a.x, a.w]),
    ]),
    edges: edges.map(e => [e.a, e.b, e.members, e.stub, pointsOf(e)]),
    enclosures: enclosures.map(e => [e.fold, e.x, e.y, e.w, e.h, e.clean]),
  };
};
const found = {};
for (const [name, graph] of Object.entries(JSON.parse(readFileSync('graphs.json', 'utf8')))) {
  const outline = outlineOf(graph);
  const all = outline.folds.map(fold => fold.id);
  const defaults = [...defaultFolds(outline)].sort((a, b) => a - b);
  const cases = [defaults, [], all, all.filter(id => id % 2)].map(folded => ({ folded, layout: told(outline, folded) }));
  const layers = [['forward', 0], ['backward', 11]].map(([layer, room]) => {
    const other = outlineOf(graph, layer, room);
    return { layer, room, layout: told(other, defaultFolds(other)) };
  });
  found[name] = { defaults, cases, layers, stored: plain(withStorages(graph)) };
}
console.log(JSON.stringify(found));
"""


def numbers(picture) -> dict:
    return {
        "width": picture.width,
        "height": picture.height,
        "boxes": [
            [
                box.title,
                box.subtitle,
                box.x,
                box.y,
                box.w,
                box.layer,
                box.home,
                [[badge.node, badge.text, badge.x, badge.width] for badge in box.badges],
            ]
            for box in picture.boxes
        ],
        "edges": [
            [edge.source, edge.target, edge.edges, edge.stub, [number for point in edge.points for number in point]]
            for edge in picture.edges
        ],
        "enclosures": [[part.fold, part.x, part.y, part.w, part.h, part.clean] for part in picture.enclosures],
    }
