"""Wrong answers to exercise 8, `cache_bytes`."""

from gradekit.checks import mistakes_in, with_costs

ADD = "total += cache.k.nbytes + cache.v.nbytes"
ALL = "test_keys_and_values_of_all_caches"
mistake = mistakes_in("cache_bytes", "bytes_")

MISTAKES = [
    mistake(
        "keys_only",
        [(ADD, "total += cache.k.nbytes")],
        [ALL],
        "You count only the keys. Values take memory, too.",
    ),
    mistake(
        "numbers",
        [(ADD, "total += cache.k.numel() + cache.v.numel()")],
        [ALL],
        "You count numbers. A float32 number takes 4 bytes.",
    ),
    mistake(
        "first_cache_only",
        [(ADD, ADD.replace("total +=", "return"))],
        [ALL],
        "You count only the first cache. Add up all of them.",
    ),
    mistake(
        "last_cache_only",
        [(ADD, ADD.replace("+=", "="))],
        [ALL],
        "You count only the last cache. Add up all of them.",
    ),
    mistake(
        "bits",
        [(ADD, "total += 8 * (cache.k.nbytes + cache.v.nbytes)")],
        [ALL],
        "You count bits. A byte has 8 of them.",
    ),
    mistake(
        "always_4",
        [(ADD, "total += 4 * (cache.k.numel() + cache.v.numel())")],
        ["test_other_dtypes_and_shapes"],
        "You assume 4 bytes for every number. Ask the tensor: other dtypes take 2 or 8.",
    ),
    mistake(
        "keys_twice",
        [(ADD, "total += 2 * cache.k.nbytes")],
        ["test_other_dtypes_and_shapes"],
        "You count the keys twice. Values may have a different width, so count them separately.",
    ),
    mistake(
        "empty_fails",
        [("if cache.length > 0:", "if True:")],
        ["test_empty_caches"],
        "An empty cache has no tensors, and yours fails on it. It takes 0 bytes.",
    ),
    mistake(
        "float",
        [("    return total\n", "    return float(total)\n")],
        ["test_empty_caches"],
        "You return a float. A number of bytes is an int.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The result is one number, and this changes it for every cache that isn't empty.": [
            "bytes_keys_only",
            "bytes_numbers",
            "bytes_bits",
        ],
    },
)
