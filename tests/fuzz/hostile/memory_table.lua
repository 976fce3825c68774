-- memory: not enough memory
local t = {}
for i = 1, 1 << 40 do t[i] = i end
