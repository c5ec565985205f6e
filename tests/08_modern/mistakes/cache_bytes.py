"""Wrong answers to exercise 8, `cache_bytes`."""

from gradekit.checks import Mistakes

ADD = "total += cache.k.nbytes + cache.v.nbytes"
ALL = "test_keys_and_values_of_all_caches"
#: what says how many bytes a tensor or its numbers take
SIZES = ("nbytes", "itemsize", "element_size")
ONE_NUMBER = "The result is one number, and this changes it for every cache that isn't empty."

wrong = Mistakes("bytes_")

wrong.about(ALL)
wrong("keys_only", ADD, "total += cache.k.nbytes")
wrong.says("You count only the keys. Values take memory, too.", lacks=("v",))
wrong.costs(ONE_NUMBER)
wrong("numbers", ADD, "total += cache.k.numel() + cache.v.numel()")
wrong.says("You count numbers. A float32 number takes 4 bytes.", lacks=SIZES)
wrong.costs(ONE_NUMBER)
wrong("first_cache_only", ADD, ADD.replace("total +=", "return"))
wrong.says("You count only the first cache. Add up all of them.", uses=(*SIZES, "numel"))
wrong("last_cache_only", ADD, ADD.replace("+=", "="))
wrong.says("You count only the last cache. Add up all of them.", uses=(*SIZES, "numel"))
wrong("bits", ADD, "total += 8 * (cache.k.nbytes + cache.v.nbytes)")
wrong.says("You count bits. A byte has 8 of them.", uses=SIZES)
wrong.costs(ONE_NUMBER)

wrong.about("test_other_dtypes_and_shapes")
wrong("always_4", ADD, "total += 4 * (cache.k.numel() + cache.v.numel())")
wrong.says("You assume 4 bytes for every number. Ask the tensor: other dtypes take 2 or 8.", lacks=SIZES)
wrong("keys_twice", ADD, "total += 2 * cache.k.nbytes")
wrong.says(
    "You count the keys twice. Values may have a different width, so count them separately.", lacks=("v",)
)

wrong.about("test_empty_caches")
wrong("empty_fails", "if cache.length > 0:", "if True:")
wrong.says("An empty cache has no tensors, and yours fails on it. It takes 0 bytes.")
wrong("float", "    return total\n", "    return float(total)\n")
wrong.says("You return a float. A number of bytes is an int.")
