"""Other right answers to exercise 8, `cache_bytes`."""

from gradekit.checks import Alternatives

right = Alternatives("bytes_")

right("summed").source("""
def cache_bytes(caches):
    tensors = [tensor for cache in caches for tensor in (cache.k, cache.v) if tensor is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
""")

right("storage").source("""
def cache_bytes(caches):
    size = 0
    for cache in caches:
        if cache.k is None:
            continue
        size += math.prod(cache.k.shape) * cache.k.dtype.itemsize
        size += math.prod(cache.v.shape) * cache.v.dtype.itemsize
    return int(size)
""")

right("of_kvcaches_only").source("""
def cache_bytes(caches):
    assert all(isinstance(cache, KVCache) for cache in caches), "only KVCaches"
    return sum(0 if cache.length == 0 else cache.k.nbytes + cache.v.nbytes for cache in caches)
""")
