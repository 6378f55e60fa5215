/**
 * Appends events to one stream, KEYS[1], in their order. An event that Redis refuses holds the later ones of its
 * aggregate back, which a pipeline of XADD could not do.
 *
 * ARGV[1] is about how many entries the stream keeps, 0 for all. Then, for each event: the key of its aggregate (empty
 * for unordered events), the number of its fields and values, and these. Answers a text for each: `+` and the id of the
 * entry, `-` and the error, or `held`.
 */
export const APPEND_EVENTS_LUA = `
local maxLength, answers, stopped, at = ARGV[1], {}, {}, 2
while at <= #ARGV do
  local key, count = ARGV[at], tonumber(ARGV[at + 1])
  if key ~= '' and stopped[key] then
    answers[#answers + 1] = 'held'
  else
    local command = { 'XADD', KEYS[1] }
    if maxLength ~= '0' then
      command[3], command[4], command[5] = 'MAXLEN', '~', maxLength
    end
    command[#command + 1] = '*'
    for field = at + 2, at + 1 + count do
      command[#command + 1] = ARGV[field]
    end
    local answer = redis.pcall(unpack(command))
    if type(answer) == 'table' and answer.err then
      stopped[key] = true
      answers[#answers + 1] = '-' .. answer.err
    else
      answers[#answers + 1] = '+' .. answer
    end
  end
  at = at + 2 + count
end
return answers`;
