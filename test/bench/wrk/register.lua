-- Registers the service and the check of one node after the other, each time
-- with another port and another output.
-- Arguments: how many nodes, and a number that no other run had.
local head, body = nil, '{"Node":"node-%04d","Address":"10.2.%d.%d",' ..
	'"Service":{"ID":"web-%04d","Service":"web-%04d","Port":%d},' ..
	'"Check":{"CheckID":"check:web-%04d","Name":"HTTP on its port","Status":"passing","Output":"run %d.%d","ServiceID":"web-%04d"}}'
local nodes, run, n = 0, 0, 0

function init(args)
	nodes, run = tonumber(args[1]), tonumber(args[2])
	head = "PUT /v1/catalog/register HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
		"\r\nContent-Type: application/json\r\nContent-Length: "
end

function request()
	n = n + 1
	local i = n % nodes
	local port = (run * 7919 + n) % 60000 + 1
	local b = string.format(body, i, math.floor(i / 250), i % 250 + 1, i, i, port, i, run, n, i)
	return head .. #b .. "\r\n\r\n" .. b
end
