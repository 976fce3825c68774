-- stopped
while true do pcall(error) end
