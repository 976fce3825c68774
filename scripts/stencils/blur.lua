-- An image blurred by an array of coefficients: 1, 4 and 16 times, and so often that only large shapes are left.
--
--   trapeze run blur.lua
local tz = require "trapeze"

local n = 300
local blur = tz.stencil { name = "blur", coefficients = { { 1, 2, 1 }, { 2, 4, 2 }, { 1, 2, 1 } }, scale = 1 / 16 }

-- The Mandelbrot set: fine threads around a large body.
local function fractal(x, y)
  local a, b, r, i = (x - 0.72 * n) / (0.38 * n), (y - 0.5 * n) / (0.38 * n), 0, 0
  for k = 1, 60 do
    r, i = r * r - i * i + a, 2 * r * i + b
    if r * r + i * i > 4 then return k % 2 end
  end
  return 1
end

local image = tz.simulation { plugin = blur, grid = { n, n }, boundary = "clamp", fields = { u = fractal } }
local sum, low, high = image:sum "u", image:min "u", image:max "u"
local frame = tz.png("u", { map = "gray", range = { 0, 1 }, zoom = 2, caption = "{step} times blurred" })
for _, steps in ipairs { 0, 1, 3, 12, 84 } do
  image:run(steps)
  image:write(frame)
end

-- Weights that are positive and add up to 1 keep the sum, and every value between the extremes.
tz.expect(math.abs(image:sum "u" - sum) < 1e-3 * sum, "the image became darker or brighter")
tz.expect(image:min "u" >= low and image:max "u" <= high, "a blur is between its terms")
