"""Records decode attention of a serving engine as dcpscope tensor dumps (format dcpscope-dump/1).

Put this file beside the engine's code; it needs nothing but torch. In the process of each rank:

    import dcpscope_recorder

    recorder = dcpscope_recorder.Recorder(
        "/tmp/dump", rank=dcp_rank, dcp_size=dcp_size, steps="100-101", layers="0,30",
        interleave=1, page_size=64, kv_lora_rank=512, rope_dim=64, softmax_scale=scale, lse_base="e", engine="vllm 0.12.1")

    recorder.step()                                                   # at the start of every decode step
    recorder.record(layer, q=q, out_kernel=out, lse_kernel=lse)       # behind the kernel
    recorder.record(layer, out=out, lse=lse)                          # as the merge gets them
    recorder.record(layer, merged=merged)                             # behind the merge
    recorder.record(layer, block_table=table, seq_lens_local=local, seq_lens_global=lens, kv_pool=pool)

Then, where dcpscope is: dcpscope dump-info /tmp/dump

Nothing here raises into the engine: what goes wrong is logged once (logger "dcpscope_recorder") and left out. While no step
is recorded, `step` and `record` look at a few attributes and return. A tensor that is recorded is copied on the device in
stream order, so the engine may overwrite it at once, and brought to the host on a stream of its own; a thread writes. What
does not fit the queue is dropped and counted, never waited for.

Shapes (T query tokens, H heads of the whole DCP group, c ranks, B requests, P tokens of a page):

    q [T, H, D], latent part first, then rope    out, out_kernel [T, H, W]    lse, lse_kernel [T, H]
    merged [T, H/c or H, W]    seq_lens_global, seq_lens_local [B]    block_table [B, columns]    slot_mapping [T]
    topk, topk_local, topk_slots [T, K]    query_start [B+1]    prompt_lens [B]    kv_scale [1]
    kv_pool: the rank's cache of the layer, [pages, P, row] or [tokens, 1, row]; only the pages in block_table are copied
    kv_k_pool, kv_v_pool: [pages, P, kv heads, head_dim], for GQA and MHA

`rope_last` and `tokens_first` reorder what an engine has otherwise. Numbers and texts given to `record` are metadata of that
file, such as graph=1. Record replays of CUDA graphs behind the replay, from the buffers that the graph writes; a call while
a graph is captured or code is compiled records nothing. Ranks of one step belong to one folder, and so each DCP group
(TP 8 with DCP 2 has four) needs a folder of its own.
"""

import atexit
import ctypes
import json
import logging
import os
import queue
import re
import struct
import threading
import time

try:
    import torch
except ImportError:  # The writer alone works without.
    torch = None

__all__ = ["Recorder", "rope_last", "tokens_first", "write_safetensors"]

FORMAT = "dcpscope-dump/1"

METADATA = frozenset(
    "interleave page_size num_heads kv_lora_rank rope_dim num_kv_heads head_dim q_len softmax_scale lse_base comm kv_layout "
    "max_len backend engine branch graph graph_batch".split()
)
TENSORS = frozenset(
    "q out lse out_kernel lse_kernel merged seq_lens_global seq_lens_local block_table kv kv_k kv_v kv_scale page_ids "
    "prompt_lens slot_mapping topk topk_local topk_slots query_start".split()
)
POOLS = {"kv_pool": "kv", "kv_k_pool": "kv_k", "kv_v_pool": "kv_v"}

DTYPES = {
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
}

DS_MLA_BYTES = 656

_log = logging.getLogger("dcpscope_recorder")


def write_safetensors(path, tensors, metadata):
    """Writes a file under a temporary name and renames it, so that it is whole or not there.

    tensors: sequence of (name, dtype such as "BF16", shape, bytes-like data); metadata: dict of texts.
    """
    entries = {"__metadata__": dict(metadata)}
    offset = 0
    for name, dtype, shape, data in tensors:
        end = offset + memoryview(data).nbytes
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    header = json.dumps(entries).encode("ascii")
    header += b" " * (-len(header) % 8)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, ".%s.%d.tmp" % (name, os.getpid()))
    try:
        with open(temporary, "wb") as file:
            file.write(struct.pack("<Q", len(header)))
            file.write(header)
            for _, _, _, data in tensors:
                file.write(data)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def rope_last(q, rope_dim):
    """[.., rope + latent] as the [.., latent + rope] of the format: SGLang gathers queries with the rope part first."""
    return torch.cat((q[..., rope_dim:], q[..., :rope_dim]), dim=-1)


def tokens_first(values):
    """[H, T, ..] as [T, H, ..]: some kernels put the heads first."""
    return values.transpose(0, 1)


class _Numbers:
    """Numbers given as "all", as text such as "0,4-7", as a number, or as numbers; None for none."""

    def __init__(self, given):
        self.all = given == "all"
        self.ranges = []
        if given is None or self.all:
            return
        if isinstance(given, str):
            for part in given.split(","):
                first, _, last = part.partition("-")
                self.ranges.append((int(first), int(last or first)))
        else:
            self.ranges = [(int(n), int(n)) for n in ([given] if isinstance(given, int) else given)]

    def __contains__(self, number):
        return self.all or any(first <= number <= last for first, last in self.ranges)


class _Call:
    """What is recorded of one layer in one step: host copies, and by device the events after which they are whole."""

    def __init__(self, step, layer):
        self.step = step
        self.layer = layer
        self.tensors = {}
        self.events = []
        self.metadata = {}
        self.nbytes = 0
        self.touched = time.monotonic()


class Recorder:
    """Records chosen steps and layers of one rank. Every method returns without raising."""

    def __init__(
        self,
        folder,
        *,
        rank,
        dcp_size,
        steps=None,
        layers="all",
        max_queue_bytes=2 << 30,
        max_pages=4096,
        **metadata,
    ):
        """steps and layers: "all", text such as "0,4-7", numbers, or None (nothing until `arm`).

        max_queue_bytes: host memory for what is not written yet; a layer beyond it is dropped.
        max_pages: pages of a cache that are copied at most for one layer.
        """
        self.written = 0
        self.dropped = 0
        self._on = False
        self._step = -1
        self._armed = 0
        self._said = set()
        self._lock = threading.RLock()
        self._call = None
        self._done_layers = set()
        self._dropped_layers = set()
        self._queue = queue.Queue()
        self._queued_bytes = 0
        self._thread = None
        self._streams = {}
        self._usable = False
        try:
            self._folder = os.fspath(folder)
            self._rank = int(rank)
            self._dcp_size = int(dcp_size)
            self._steps = _Numbers(steps)
            self._layers = _Numbers(layers)
            self._max_queue_bytes = int(max_queue_bytes)
            self._max_pages = int(max_pages)
            self._metadata = self._texts(metadata)
            if torch is None:
                raise ImportError("torch cannot be imported")
            if not 0 <= self._rank < self._dcp_size:
                raise ValueError("rank must be 0 to dcp_size - 1, got %d of %d" % (self._rank, self._dcp_size))
            os.makedirs(self._folder, exist_ok=True)
            self._usable = True
            atexit.register(self.close)
        except Exception as error:
            self._failed("nothing is recorded", error)

    def step(self, number=None):
        """The next decode step begins: the one after the last, from 0, or that of this number."""
        if _compiling() or not self._usable:
            return
        try:
            if self._call is not None:
                self._submit()
            self._step = self._step + 1 if number is None else int(number)
            self._done_layers = set()
            self._dropped_layers = set()
            self._on = self._armed > 0 or self._step in self._steps
            if self._armed > 0:
                self._armed -= 1
        except Exception as error:
            self._failed("step", error)

    def arm(self, steps=1):
        """Also records the next `steps` steps. On all ranks before the same step, or their files do not fit together."""
        try:
            self._armed = max(0, int(steps))
        except Exception as error:
            self._failed("arm", error)

    def wants(self, layer):
        """Whether `record` would take something of this layer now: what is costly to prepare can be left out otherwise."""
        if _compiling() or not self._on:
            return False
        try:
            return _layer_number(layer) in self._layers and not _capturing()
        except Exception as error:
            self._failed("wants", error)
            return False

    def record(self, layer, **values):
        """Adds tensors (by their names in the format) and metadata to the file of this step and layer.

        layer: its number, or a name with the number in it such as "model.layers.3.self_attn".
        """
        if _compiling() or not self._on:
            return
        try:
            number = _layer_number(layer)
            if number not in self._layers:
                return
            if _capturing():
                self._say("capture", "a graph is being captured: record behind the replay, from the buffers of the graph")
                return
            with torch.no_grad():
                self._record(number, values)
        except Exception as error:
            self._failed("record", error)

    def flush(self, timeout=60.0):
        """Waits until everything recorded so far is written; False when that takes longer than `timeout` seconds."""
        try:
            self._submit()
            end = time.monotonic() + timeout
            while self._queue.unfinished_tasks:
                if time.monotonic() > end:
                    return False
                time.sleep(0.005)
            return True
        except Exception as error:
            self._failed("flush", error)
            return False

    def close(self):
        """Writes what is left, and records nothing from now on. Called by itself when the process ends."""
        self._on = False
        if not self._usable:
            return
        self._usable = False
        if not self.flush(30.0):
            self._say("end", "the process ended before everything was written")
        atexit.unregister(self.close)

    def _record(self, layer, values):
        with self._lock:
            call = self._call
            if call is not None and (call.layer != layer or call.step != self._step):
                self._submit_locked()
                call = None
            if call is None:
                if layer in self._done_layers:
                    if layer not in self._dropped_layers:
                        self._say("layer again", "layer %d came again in step %d: what came first is kept" % (layer, self._step))
                    return
                call = self._call = _Call(self._step, layer)
            tensors = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
            call.metadata.update(self._texts({k: v for k, v in values.items() if k not in tensors and v is not None}))
            for name, value, fresh in self._with_pages(call, tensors):
                self._add(call, name, value, fresh)
                if call is not self._call:
                    return
            call.touched = time.monotonic()
            self._wake()

    def _add(self, call, name, value, fresh):
        """fresh: nobody else has the tensor, and it is contiguous."""
        if name not in TENSORS:
            self._say("name " + name, "%s is no tensor of the format" % name)
        elif name in call.tensors:
            self._say("again " + name, "%s of layer %d came twice in step %d: the first is kept" % (name, call.layer, call.step))
        elif _dtype_name(value) not in DTYPES:
            self._say("type " + name, "%s has the type %s, which the format does not have" % (name, value.dtype))
        elif value.numel() > 0:
            if self._queued_bytes + call.nbytes + value.nbytes > self._max_queue_bytes:
                self.dropped += 1
                self._call = None
                self._done_layers.add(call.layer)
                self._dropped_layers.add(call.layer)
                self._say("queue", "the queue is full: layer %d of step %d is dropped" % (call.layer, call.step))
                return
            host, event = self._copy(value, fresh)
            call.tensors[name] = host
            call.nbytes += value.nbytes
            if event is not None:
                call.events.append((value.device, event))

    def _copy(self, value, fresh):
        """A copy on the host, and the event after which it is whole."""
        snapshot = value if fresh else value.detach().clone(memory_format=torch.contiguous_format)
        if not value.is_cuda:
            return snapshot, None
        stream = self._streams.get(value.device)
        if stream is None:
            stream = self._streams[value.device] = torch.cuda.Stream(value.device)
        stream.wait_stream(torch.cuda.current_stream(value.device))
        host = torch.empty(snapshot.shape, dtype=snapshot.dtype, pin_memory=True)
        with torch.cuda.stream(stream):
            host.copy_(snapshot, non_blocking=True)
            snapshot.record_stream(stream)
            event = torch.cuda.Event()
            event.record(stream)
        return host, event

    def _with_pages(self, call, tensors):
        """The tensors of the format that are given, with the used pages of a pool in place of the pool."""
        pools = [name for name in POOLS if name in tensors]
        for name, value in tensors.items():
            if name not in POOLS:
                yield name, value, False
        if not pools:
            return
        page_size = int(call.metadata.get("page_size") or self._metadata.get("page_size") or 0)
        table = tensors.get("block_table")
        if table is None or page_size == 0:
            self._say("pool", "a pool is left out: it needs block_table in the same call, and page_size in the metadata")
            return
        for pool in pools:
            paged = _paged(tensors[pool], page_size)
            ids = _used_pages(table, tensors.get("seq_lens_local"), page_size, paged.shape[0])
            if ids.numel() > self._max_pages:
                self._say("pages", "layer %d uses %d pages, %d are kept" % (call.layer, ids.numel(), self._max_pages))
                ids = ids[: self._max_pages]
            yield POOLS[pool], _taken(paged, ids.to(paged.device)), True
            if "page_ids" not in call.tensors:
                yield "page_ids", ids.to(torch.int32), True

    def _texts(self, metadata):
        for key in metadata:
            if key not in METADATA:
                self._say("metadata " + key, "%s is neither a tensor nor metadata of the format" % key)
        return {key: _text(value) for key, value in metadata.items() if key in METADATA and value is not None}

    def _submit(self):
        with self._lock:
            self._submit_locked()

    def _submit_locked(self):
        call, self._call = self._call, None
        if call is None:
            return
        self._done_layers.add(call.layer)
        if call.tensors:
            self._queued_bytes += call.nbytes
            self._queue.put(call)
            self._wake()

    def _wake(self):
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._write_calls, name="dcpscope_recorder", daemon=True)
            self._thread.start()

    def _write_calls(self):
        while True:
            try:
                call = self._queue.get(timeout=1.0)
            except queue.Empty:
                # The last layer of the last recorded step, when no step comes after it.
                with self._lock:
                    if self._call is not None and time.monotonic() - self._call.touched > 2.0:
                        self._submit_locked()
                continue
            try:
                self._write(call)
                self.written += 1
            except Exception as error:
                self.dropped += 1
                self._failed("a file could not be written", error)
            finally:
                with self._lock:
                    self._queued_bytes -= call.nbytes
                self._queue.task_done()

    def _write(self, call):
        for device, event in call.events:
            # Otherwise this thread would take memory of the first GPU, whichever the rank has.
            with torch.cuda.device(device):
                event.synchronize()
        metadata = dict(self._metadata)
        metadata.update(call.metadata)
        metadata.update(
            format=FORMAT,
            rank=str(self._rank),
            dcp_size=str(self._dcp_size),
            step=str(call.step),
            layer=str(call.layer),
        )
        name = "step%d-layer%d-rank%d.safetensors" % (call.step, call.layer, self._rank)
        tensors = [
            (name, DTYPES[_dtype_name(value)], tuple(value.shape), _bytes(value))
            for name, value in call.tensors.items()
        ]
        write_safetensors(os.path.join(self._folder, name), tensors, metadata)

    def _failed(self, what, error):
        self._say(what, "%s: %s: %s" % (what, type(error).__name__, error))

    def _say(self, kind, text):
        """Each kind once: the same happens in every layer and step."""
        if kind not in self._said:
            self._said.add(kind)
            _log.warning("dcpscope recorder: %s", text)


_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


def _capturing():
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


def _layer_number(layer):
    if isinstance(layer, str):
        number = re.search(r"\d+", layer)
        if number is None:
            raise ValueError("there is no number in the layer's name %r" % layer)
        return int(number.group())
    return int(layer)


def _dtype_name(value):
    return str(value.dtype).replace("torch.", "")


def _text(value):
    return str(int(value)) if isinstance(value, bool) else str(value)


def _bytes(host):
    """The bytes of a contiguous tensor on the host, without a copy."""
    return memoryview((ctypes.c_char * host.nbytes).from_address(host.data_ptr()))


def _paged(pool, page_size):
    """A cache as [pages, P, ..] without copying it. Bytes that are no rows of fp8_ds_mla are e4m3 codes."""
    if pool.dim() == 3 and pool.shape[1] != page_size:
        pool = pool.view(-1, page_size, pool.shape[-1])
    if pool.dtype == torch.uint8 and pool.shape[-1] != DS_MLA_BYTES:
        pool = pool.view(torch.float8_e4m3fn)
    return pool


def _used_pages(table, lengths, page_size, pages):
    """Numbers of the pages in the table, of each once; only those that hold keys where the local lengths are known."""
    ids = table
    if lengths is not None:
        used = (lengths.to(table.device) + (page_size - 1)) // page_size
        ids = table[torch.arange(table.shape[1], device=table.device) < used[:, None]]
    ids = torch.unique(ids.reshape(-1)).to(torch.int64)
    return ids[(ids >= 0) & (ids < pages)]


def _taken(paged, ids):
    if paged.element_size() > 1:
        return paged.index_select(0, ids)
    # torch does not pick rows of every type of 8 bits.
    return paged.view(torch.uint8).index_select(0, ids).view(paged.dtype)
