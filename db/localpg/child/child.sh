# Runs one command and ends it when whoever started this shell is gone.
#
#   $1      the signal that ends the command when its owner is gone
#   $2      a directory to remove in that case, or nothing
#   $3 ...  the command
#   fd 0    orders, one signal name a line; its end means that the owner is gone
#   fd 3    where the process id of the command is reported
#   fd 4 …  are handed on to the command
last_signal=$1 rubbish=$2
shift 2
exec 9<&0 </dev/null

"$@" 3>&- 9<&- &
pid=$!
echo "$pid" >&3
exec 3>&-

orphaned=
trap 'orphaned=1' USR1
(
	trap - USR1
	while read -r order <&9; do kill -s "$order" "$pid"; done
	kill -s USR1 $$
	# A stopped process hears nothing until it is told to go on.
	kill -s "$last_signal" "$pid"
	kill -s CONT "$pid"
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 1 >/dev/null 2>&1 4>&- 9<&-
		kill -0 "$pid" || exit 0
	done
	kill -s KILL "$pid"
) 2>/dev/null &
watch=$!

wait "$pid"
status=$?
# The trap cuts the first wait short; the second one waits for the end.
if [ -n "$orphaned" ]; then wait "$pid"; fi
kill "$watch" 2>/dev/null
if [ -n "$orphaned" ] && [ -n "$rubbish" ]; then rm -rf -- "$rubbish"; fi
exit "$status"
