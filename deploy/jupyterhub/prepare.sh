#!/bin/sh
# Make the account that grades a course, and the course's exchange, with the permissions that docs/hub.md explains.
# As root: prepare.sh transformers. It can be run again, and changes nothing that is as it should be.
set -eu
course=${1:?usage: prepare.sh COURSE [GRADER [EXCHANGE]]}
grader=${2:-grader-$course}
exchange=${3:-/srv/nbgrader/exchange}

getent passwd "$grader" > /dev/null || useradd --create-home --shell /bin/bash "$grader"
chmod 700 "$(getent passwd "$grader" | cut -d: -f6)"

# nbgrader wants to be able to write here as every user; with the sticky bit, nobody can remove the folder of a course
install --directory --mode=1777 "$exchange"
folder() { install --directory --mode="$1" --owner="$grader" --group="$(id -gn "$grader")" "$2"; }
folder 755 "$exchange/$course"
folder 755 "$exchange/$course/outbound"
folder 3733 "$exchange/$course/inbound"   # everybody hands in; only the grader lists, and nobody removes what isn't theirs
folder 711 "$exchange/$course/feedback"   # a page can be opened only with its name, which is a secret of who handed in
