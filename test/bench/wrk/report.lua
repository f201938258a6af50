-- The one line that the benchmark reads. Times are in microseconds.
function done(summary, latency)
	local e = summary.errors
	io.write(string.format(
		'report {"Requests":%d,"Duration":%d,"Bytes":%d,"Connect":%d,"Read":%d,"Write":%d,"Status":%d,"Timeout":%d,"P50":%f}\n',
		summary.requests, summary.duration, summary.bytes,
		e.connect, e.read, e.write, e.status, e.timeout, latency:percentile(50)))
end

