-- The line, from 1, on which a text first names a function of the module: NAME.function, where the
-- text has NAME = require "trapeze". 0: nowhere. Comments and strings do not count.
local text, wanted = ...
local at, start = 1, 1 -- the next character; the first one of the last token

-- A name or a sign as it is, or a string with one quote before it; nil at the end.
local function next_token()
  at = text:match("^%s*()", at) or at
  if at > #text then return nil end
  start = at
  local comment = text:match("^%-%-()", at)
  local level, open = text:match("^%[(=*)%[()", comment or at)
  if level then
    local close, last = text:find("]" .. level .. "]", open, true)
    at = (last or #text) + 1
    if comment then return next_token() end
    return "'" .. text:sub(open, (close or 0) - 1)
  elseif comment then
    at = text:find("\n", comment, true) or #text + 1
    return next_token()
  end
  local quote = text:match("^['\"]", at)
  if quote then
    at = at + 1
    while not text:find("^[\n" .. quote .. "]", at) and at <= #text do
      at = at + (text:find("^\\", at) and 2 or 1)
    end
    at = at + 1
    return "'" .. text:sub(start + 1, at - 2)
  end
  local token = text:match("^[%w_]+", at) or text:sub(at, at)
  at = at + #token
  return token
end

local module
local last = {} -- the tokens before, the newest first
for token in next_token do
  local call = last[1] == "(" and 1 or 0 -- require("trapeze")
  if token == "'trapeze" and last[call + 1] == "require" and last[call + 2] == "=" then
    module = last[call + 3] == ">" and last[call + 6] or last[call + 3] -- NAME <const> =
  elseif token == wanted and last[1] == "." and module and last[2] == module and
      module:find("^[%w_]") then
    local _, lines = text:sub(1, start - 1):gsub("\n", "")
    return lines + 1
  end
  last = { token, last[1], last[2], last[3], last[4], last[5], last[6] }
end
return 0
