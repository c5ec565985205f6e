import sys
from attacks import play as p
import attacks.reading
mode = sys.argv[1]
print(p.play(attacks.reading.ATTACKS, mode))
