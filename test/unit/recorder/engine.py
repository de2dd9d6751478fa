"""Plain functions of the shape of a serving engine's decode attention and merge, recorded by dcpscope_recorder.

    engine.py PLAY DEVICE FOLDER        prints one JSON document: what the recorder was given, and what it says
"""

import hashlib
import json
import logging
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../main/recorder"))

import dcpscope_recorder as recording
import torch

RANKS, REQUESTS, HEADS, LATENT, ROPE, PAGE, POOL = 4, 3, 8, 32, 8, 4, 40
LENGTHS = [41, 2, 17]
SCALE = 0.125
METADATA = dict(
    interleave=1, page_size=PAGE, num_heads=HEADS, kv_lora_rank=LATENT, rope_dim=ROPE, q_len=1, softmax_scale=SCALE,
    lse_base="e", comm="ag_rs", engine="test 1.0",
)


class Messages(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


MESSAGES = Messages()
logging.getLogger("dcpscope_recorder").addHandler(MESSAGES)


def local_length(length, rank):
    return length // RANKS + (1 if rank < length % RANKS else 0)


def digest(tensor):
    data = tensor.detach().cpu().contiguous().view(torch.uint8).reshape(-1).tolist()
    return hashlib.sha256(bytes(data)).hexdigest()


def attend(q, pool, table, lengths):
    """One rank's partial: out [T, H, W], lse [T, H]; rows without keys are (0, -inf)."""
    out = torch.zeros(REQUESTS, HEADS, LATENT, dtype=q.dtype, device=q.device)
    lse = torch.full((REQUESTS, HEADS), -torch.inf, device=q.device)
    for b, length in enumerate(lengths):
        if length == 0:
            continue
        keys = pool[table[b, : -(-length // PAGE)].long()].reshape(-1, LATENT + ROPE)[:length].float()
        scores = q[b].float() @ keys.T * SCALE
        lse[b] = torch.logsumexp(scores, dim=-1)
        out[b] = (torch.softmax(scores, dim=-1) @ keys[:, :LATENT]).to(q.dtype)
    return out, lse


def merge(outs, lses):
    """What every rank holds after the reduce-scatter: [c] of [T, H/c, W]."""
    lse = torch.stack(lses)
    weights = torch.exp(lse - torch.logsumexp(lse, dim=0))
    merged = sum(w[..., None] * o.float() for w, o in zip(weights, outs)).to(outs[0].dtype)
    return merged.chunk(RANKS, dim=1)


def normal(seed, *shape, dtype, device):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype).to(device)


def table_of(rank, device):
    """Columns beyond what the rank needs hold pages of earlier steps, also such as are not there."""
    table = torch.tensor([[POOL - 1, 1000]] * REQUESTS, dtype=torch.int32).repeat(1, 3)
    page = 3
    for b, length in enumerate(LENGTHS):
        columns = -(-length // (PAGE * RANKS))
        table[b, :columns] = torch.arange(page, page + columns)
        page += columns + 2
    return table.to(device)


def play_merge(device, folder, dtype):
    """Four ranks, five steps of four layers; each tensor is overwritten as soon as it was recorded."""
    recorders = [
        recording.Recorder(folder, rank=r, dcp_size=RANKS, steps="1,3", layers="0,2", **METADATA) for r in range(RANKS)
    ]
    given = {}
    for step in range(5):
        for recorder in recorders:
            recorder.step()
        for layer in range(4):
            # As SGLang gathers it: heads first, rope first.
            gathered = normal(100 * step + layer, HEADS, REQUESTS, ROPE + LATENT, dtype=dtype, device=device)
            q = recording.tokens_first(recording.rope_last(gathered, ROPE))
            kept = []
            for rank, recorder in enumerate(recorders):
                pool = normal(7000 + 100 * layer + rank, POOL, PAGE, LATENT + ROPE, dtype=dtype, device=device)
                lengths = [local_length(n, rank) for n in LENGTHS]
                table = table_of(rank, device)
                out, lse = attend(q, pool, table, lengths)
                values = dict(
                    q=q,
                    out=out,
                    lse=lse,
                    block_table=table,
                    seq_lens_local=torch.tensor(lengths, dtype=torch.int32, device=device),
                    seq_lens_global=torch.tensor(LENGTHS, dtype=torch.int32),
                )
                recorder.record("model.layers.%d.self_attn.attn" % layer, kv_pool=pool, **values)
                kept.append((out.clone(), lse.clone()))
                if recorder.wants(layer):
                    given["%d %d %d" % (step, layer, rank)] = {name: digest(value) for name, value in values.items()}
                for value in (pool, out, lse, table, values["seq_lens_local"]):
                    value.fill_(77)
            for rank, merged in enumerate(merge([out for out, _ in kept], [lse for _, lse in kept])):
                recorders[rank].record(layer, merged=merged, max_len=64)
                if recorders[rank].wants(layer):
                    given["%d %d %d" % (step, layer, rank)]["merged"] = digest(merged)
                merged.fill_(77)
    flushed = [recorder.flush() for recorder in recorders]
    return dict(
        given=given,
        flushed=flushed,
        written=[recorder.written for recorder in recorders],
        dropped=[recorder.dropped for recorder in recorders],
    )


def play_idle(device, folder):
    """What recording nothing leaves behind: no memory, no thread."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="5")
    value = torch.zeros(64, 8, 16, device=device)
    before = torch.cuda.memory_stats().get("allocation.all.allocated", 0) if device == "cuda" else 0
    for _ in range(5):
        recorder.step()
        recorder.record(0, out=value)
    after = torch.cuda.memory_stats().get("allocation.all.allocated", 0) if device == "cuda" else 0
    return dict(allocations=after - before, thread=recorder._thread is not None, wants=recorder.wants(0))


def play_armed(device, folder):
    """Armed for one step while the engine runs; nothing but the end of the process writes it."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1)
    for step in range(4):
        if step == 2:
            recorder.arm()
        recorder.step(10 + step)
        recorder.record(0, lse=torch.full((1, 2), float(step), device=device))
    return {}


def play_last(device, folder):
    """The last layer of the last step is written although no step follows it."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all")
    recorder.step()
    recorder.record(0, lse=torch.ones(1, 2, device=device))
    for _ in range(2000):
        if recorder.written > 0:
            break
        time.sleep(0.05)
    return dict(files=os.listdir(folder))


def play_mistakes(device, folder):
    """Whatever an engine hands over, it goes on, and each mistake is said once."""
    lse = torch.ones(2, 2, device=device)
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all", colour="red")
    for _ in range(3):
        recorder.step()
        recorder.record(0, lse=lse, weights=lse, topk=lse > 0, seq_lens_local=[1, 2], kv_pool=lse)
        recorder.record(0, lse=lse)
        recorder.record(1, lse=torch.ones(0, 2, device=device), out=None)
        recorder.record(0, lse=lse)
        recorder.record("attention", lse=lse)
        recorder.record(None, lse=lse)
        recorder.arm("often")
    recorder.flush()
    blocked = os.path.join(folder, "file")
    open(blocked, "w").close()
    for broken in (
        recording.Recorder(os.path.join(blocked, "below"), rank=0, dcp_size=1, steps="all"),
        recording.Recorder(folder, rank=4, dcp_size=4, steps="all"),
        recording.Recorder(folder, rank=0, dcp_size=1, steps="one"),
    ):
        broken.step()
        broken.record(0, lse=lse)
        broken.flush()
        broken.close()
    os.unlink(blocked)
    return dict(written=recorder.written)


def play_full(device, folder):
    """A queue that is too small drops whole layers; a folder that goes away drops files."""
    small = recording.Recorder(folder, rank=0, dcp_size=1, steps="all", max_queue_bytes=1000)
    small.step()
    small.record(0, lse=torch.ones(10, 10, device=device))
    small.record(0, out=torch.ones(10, 10, 16, device=device))
    small.record(0, merged=torch.ones(10, 10, 1, device=device))
    small.record(1, lse=torch.ones(10, 10, device=device))
    small.flush()
    gone = recording.Recorder(os.path.join(folder, "gone"), rank=0, dcp_size=1, steps="all")
    os.rmdir(os.path.join(folder, "gone"))
    gone.step()
    gone.record(0, lse=torch.ones(1, 1, device=device))
    gone.flush()
    return dict(small=[small.written, small.dropped], gone=[gone.written, gone.dropped])


def play_compiled(device, folder):
    """Within code that torch compiles as a whole there is nothing to trace, and nothing is recorded."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all")
    recorder.step()

    def layer(x):
        recorder.record(0, lse=x)
        return x * 2 if not recorder.wants(0) else x

    compiled = torch.compile(layer, fullgraph=True, backend="eager")
    value = torch.ones(2, 2, device=device)
    doubled = bool((compiled(value) == 2).all())
    recorder.flush()
    return dict(doubled=doubled, written=recorder.written)


def play_types(device, folder):
    """Every type of the format, bit for bit, from tensors that are not contiguous."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all", page_size=4)
    recorder.step()
    bits = torch.arange(2 * 3 * 16, dtype=torch.int64, device=device).reshape(2, 3, 16)
    values = dict(
        out=bits.to(torch.float16),
        out_kernel=bits.to(torch.bfloat16),
        merged=bits.to(torch.uint8).view(torch.float8_e5m2),
        slot_mapping=bits[:, 0, 0],
        lse=bits.float().transpose(1, 2)[:, 0, :],
        block_table=torch.tensor([[1], [2]], dtype=torch.int32, device=device),
    )
    # As vLLM keeps fp8: bytes, a slice of a larger buffer.
    pool = torch.arange(5 * 2 * 4 * 16, dtype=torch.int64, device=device).to(torch.uint8).reshape(5, 2, 4, 16)[:, 1]
    recorder.record(0, kv_pool=pool, **values)
    recorder.flush()
    given = {name: digest(value) for name, value in values.items()}
    given["kv"] = digest(pool[1:3].contiguous())
    given["page_ids"] = digest(torch.tensor([1, 2], dtype=torch.int32))
    reordered = recording.rope_last(torch.arange(6, device=device), 2).tolist()
    return dict(given=given, reordered=reordered)


def play_graph(device, folder):
    """Within a capture nothing is recorded; behind the replay the buffers of the graph are."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all")
    recorder.step()
    x = torch.ones(4, 8, device=device)
    y = x * 2
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
        recorder.record(0, lse=y)
    during = recorder.written + (recorder._call is not None)
    given = {}
    for step in range(1, 4):
        recorder.step()
        x.fill_(step)
        graph.replay()
        recorder.record(0, lse=y, graph=True, graph_batch=4)
        given[step] = 2.0 * step
    recorder.flush()
    return dict(during=during, given=given)


def play_stream(device, folder):
    """Work on another stream, and memory that is given back at once: what is recorded is what was there then."""
    recorder = recording.Recorder(folder, rank=0, dcp_size=1, steps="all")
    stream = torch.cuda.Stream()
    for step in range(20):
        recorder.step()
        with torch.cuda.stream(stream):
            value = torch.full((256, 1024), float(step), device=device)
            value = value @ torch.eye(1024, device=device)
            recorder.record(0, lse=value)
            value.fill_(-1)
            del value
            torch.full((256, 1024), -2.0, device=device)
    recorder.flush()
    return dict(written=recorder.written, dropped=recorder.dropped)


def main():
    play, device, folder = sys.argv[1:4]
    if play == "merge":
        answer = play_merge(device, folder, torch.float32)
    elif play == "merge_bf16":
        answer = play_merge(device, folder, torch.bfloat16)
    else:
        answer = globals()["play_" + play](device, folder)
    print(json.dumps(dict(answer, messages=MESSAGES.lines)))


main()
