-- Asks for one service after the other.
-- Arguments: the path with a %05d for the service, and how many services.
local requests, n = {}, 0

function init(args)
	for i = 1, tonumber(args[2]) do
		requests[i] = wrk.format("GET", string.format(args[1], i - 1))
	end
end

function request()
	n = n % #requests + 1
	return requests[n]
end
