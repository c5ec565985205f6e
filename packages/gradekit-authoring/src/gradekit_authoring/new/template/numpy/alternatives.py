"""Other correct answers to this assignment. Each must earn full marks."""

from gradekit.checks import Alternatives

right = Alternatives(cell="standardized")

right("column_by_column").source("""
def standardized(table):
    output = np.zeros(table.shape)
    for place in range(table.shape[1]):
        column = table[:, place]
        if column.std() > 0:
            output[:, place] = (column - column.mean()) / column.std()
    return output
""")

right("sums").source("""
def standardized(table):
    centered = table - table.sum(axis=0) / len(table)
    spread = np.sqrt((centered**2).sum(axis=0) / len(table))
    return centered / np.where(spread > 0, spread, 1)
""")

right("divide_where").source("""
def standardized(table):
    centered = table - np.mean(table, axis=0, keepdims=True)
    spread = np.broadcast_to(np.std(table, axis=0), table.shape)
    return np.divide(centered, spread, out=np.zeros(table.shape), where=spread != 0)
""")
