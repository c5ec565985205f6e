"""Wrong answers to exercise 1, `byte_pairs`."""

from gradekit.checks import Mistakes

SMALLEST = "It is the first step of all four functions."

wrong = Mistakes("bpe_")

wrong.about("test_join_pair")
wrong("overlapping", "            place += 2\n", "            place += 1\n")
wrong.says("After a pair, you go on at its second id, which is used already. Move on by two places.")
wrong.costs(SMALLEST)
wrong("from_the_right", "    joined, place = [], 0\n")
wrong.to(
    "    if len(set(pair)) == 1:\n        ids, pair = ids[::-1], pair[::-1]\n"
    "        return join_pair_left(ids, pair, new_id)[::-1]\n    return join_pair_left(ids, pair, new_id)\n\n\n"
    "def join_pair_left(ids, pair, new_id):\n    joined, place = [], 0\n"
)
wrong.says("You join from right to left. In a run of an odd number of equal ids, the last one is left over.")
wrong("first_only", "tuple(ids[place : place + 2]) == pair:")
wrong.to("tuple(ids[place : place + 2]) == pair and new_id not in joined:")
wrong.says("You join only the first occurrence of the pair. Join all of them.")
wrong.costs(SMALLEST)
wrong(
    "joined_again",
    "        if tuple(ids[place : place + 2]) == pair:\n            joined.append(new_id)\n",
)
wrong.to(
    "        if joined and (joined[-1], ids[place]) == pair:\n            joined[-1] = new_id\n"
    "            place += 1\n        elif tuple(ids[place : place + 2]) == pair:\n"
    "            joined.append(new_id)\n"
)
wrong.says("You join the new id with its neighbor once more. Each id of the given list is used once.")
wrong("either_order", "== pair:", "in (pair, pair[::-1]):")
wrong.says("You also join the pair in reverse order. Left and right matter.")
wrong.costs(SMALLEST)

wrong.about("test_join_pair_edges")
wrong("in_place", "    return joined", "    ids[:] = joined\n    return ids")
wrong.says("`join_pair` changes the list that it was given. Make a new one.")

wrong.about("test_merges")
wrong("counted_once", "        counts = Counter(pairwise(ids))\n", "")
wrong.edit("    merges = []\n    while", "    merges = []\n    counts = Counter(pairwise(ids))\n    while")
wrong.edit("        merges.append(best)\n", "        merges.append(best)\n        del counts[best]\n")
wrong.edit("    while len(merges) < n and len(ids) > 1:", "    while len(merges) < n and counts:")
wrong.says("You count the pairs only once. Count them again after each merge, with the new id in the text.")
wrong("not_joined", "        ids = join_pair(ids, best, 256 + len(merges))\n        merges.append(best)\n")
wrong.to("        merges.append(best)\n    ids = ids[:1]\n")
wrong.edit("        counts = Counter(pairwise(ids))\n")
wrong.to("        counts = Counter(pairwise(ids)) - Counter(dict.fromkeys(merges, len(text) + 9))\n")
wrong.edit("        best = max(counts, key=counts.get)\n")
wrong.to("        if not counts:\n            break\n        best = max(counts, key=counts.get)\n")
wrong.says("You never join the pair in the text, so no merge builds on an earlier one.")
wrong("no_overlap", "        counts = Counter(pairwise(ids))\n")
wrong.to("        counts = {pair: len(ids) - len(join_pair(ids, pair, -1)) for pair in pairwise(ids)}\n")
wrong.says(
    "You count a pair of two equal ids without overlaps. Count all neighbors: aaa contains (a, a) twice."
)
wrong("numbered_from_257", "best, 256 + len(merges))", "best, 257 + len(merges))")
wrong.says("Merge i makes the id 256 + i, so the first new id is 256. In training you begin at another one.")
wrong("rarest", "best = max(counts", "best = min(counts")
wrong.says("You take the rarest pair. Take the most frequent one.")
wrong("text_in_place_of_bytes", '    ids = list(text.encode("utf-8"))\n    merges = []\n')
wrong.to("    ids = [ord(character) for character in text]\n    merges = []\n")
wrong.says("In training you begin with the numbers of the characters. Begin with the bytes: `text.encode()`.")

wrong.about("test_ties")
wrong("largest_of_equal", "max(counts, key=counts.get)", "max(counts, key=lambda pair: (counts[pair], pair))")
wrong.says("Of equally frequent pairs you take the one with the largest ids. Take the first in the text.")
wrong("smallest_of_equal", "max(counts, key=counts.get)")
wrong.to("max(counts, key=lambda pair: (counts[pair], -pair[0], -pair[1]))")
wrong.says("Of equally frequent pairs you take the one with the smallest ids. Take the first in the text.")
wrong("last_of_equal", "max(counts, key=counts.get)", "max(reversed(counts), key=counts.get)")
wrong.says("Of equally frequent pairs you take the last one. Take the first in the text.")

wrong.about("test_number_of_merges")
wrong("no_end", "    while len(merges) < n and len(ids) > 1:", "    while len(merges) < n:")
wrong.says("When the text has become a single id, no pair is left to count. Stop then.")
wrong("twice_at_least", "        ids = join_pair(ids, best, 256 + len(merges))\n")
wrong.to(
    "        if counts[best] < 2:\n            break\n        ids = join_pair(ids, best, 256 + len(merges))\n"
)
wrong.says("You stop when every pair occurs only once. Go on until the text is a single id.")
wrong("one_more", "while len(merges) < n and", "while len(merges) <= n and")
wrong.says("You return one merge too many.")

wrong.about("test_order_of_merges")
RANKED = "    for number, pair in enumerate(merges):\n        ids = join_pair(ids, pair, 256 + number)\n    return ids\n"
wrong("from_left_to_right", RANKED)
wrong.to("""    known = {tuple(pair): 256 + number for number, pair in enumerate(merges)}
    place = 0
    while place + 1 < len(ids):
        pair = (ids[place], ids[place + 1])
        if pair in known:
            ids[place : place + 2] = [known[pair]]
            place = max(place - 1, 0)
        else:
            place += 1
    return ids
""")
wrong.says(
    "You join whatever fits, from left to right. Apply the merges in the order in which they were learned."
)
wrong("longest_first", RANKED)
wrong.to("""    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    longest = sorted(range(len(tokens)), key=lambda number: -len(tokens[number]))
    rest, found = bytes(ids), []
    while rest:
        number = next(number for number in longest if rest.startswith(tokens[number]))
        found.append(number)
        rest = rest[len(tokens[number]) :]
    return found
""")
wrong.says(
    "You take the longest token that fits, from left to right. Apply the merges in their order instead."
)
wrong("last_merge_first", "    for number, pair in enumerate(merges):\n")
wrong.to("    for number, pair in reversed(list(enumerate(merges))):\n")
wrong.says("You apply the last merge first. It needs the ids that earlier merges make.")
wrong(
    "one_round_per_merge_from_0",
    "ids = join_pair(ids, pair, 256 + number)",
    "ids = join_pair(ids, pair, number)",
)
wrong.says("In encode you number the merges from 0. Merge i makes the id 256 + i.")

wrong.about("test_any_text")
wrong("characters_encoded", '    ids = list(text.encode("utf-8"))\n    for number')
wrong.to("    ids = [ord(character) for character in text]\n    for number")
wrong.says("In encode you begin with the numbers of the characters. Begin with the bytes: `text.encode()`.")
wrong("ascii_only", '    ids = list(text.encode("utf-8"))\n    for number')
wrong.to('    ids = list(text.encode("ascii", errors="ignore"))\n    for number')
wrong.says("You lose all characters outside ASCII. Encode the text as UTF-8.")
wrong("trained_again", "    for number, pair in enumerate(merges):\n")
wrong.to("    for number, pair in enumerate(train_merges(text, len(merges))):\n")
wrong.says("`encode` learns merges from the text that it encodes. Apply those that it is given.")

wrong.about("test_round_trip")
wrong(
    "decoded_one_by_one",
    'return b"".join(tokens[number] for number in ids).decode("utf-8", errors="replace")',
)
wrong.to('return "".join(tokens[number].decode("utf-8", errors="replace") for number in ids)')
wrong.says("You decode each id on its own. A character may consist of several ids: join all bytes first.")
wrong("latin_1", '.decode("utf-8", errors="replace")', '.decode("latin-1")')
wrong.says("You read every byte as a character. Read the bytes as UTF-8.")
wrong("right_before_left", "tokens.append(tokens[left] + tokens[right])")
wrong.to("tokens.append(tokens[right] + tokens[left])")
wrong.says("In decode you put the right part of a merge before the left one.")

wrong.about("test_part_of_a_character")
wrong("strict", '.decode("utf-8", errors="replace")', '.decode("utf-8")')
wrong.says('A token may be a part of a character, and then decode raises an error. Use `errors="replace"`.')
wrong("ignored", 'errors="replace"', 'errors="ignore"')
wrong.says('You leave out the bytes that are no character. Write � there: `errors="replace"`.')
