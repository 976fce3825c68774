-- Constants that change with the iteration, and derived fields. The stencil is one of the test plugins'.
local tz = require "trapeze"
local c = require "checks"
