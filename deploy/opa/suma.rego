# The authorization rules. One rule is evaluated, data.suma.decision; deploy/opa/README.md describes its input and its
# result.
#
# How the rules are written, and why:
# - Rules only allow. Each grant is a list of positive conditions. The default denies, and a missing field makes its
#   condition undefined, which denies.
# - Nothing is negated. An engine that does not know a builtin leaves its call undefined, and a negated undefined is
#   true. "Is not in this list" is therefore written as "differs from every entry of it".
# - Obligations (a person's approval) are the full set, minus what a rule waives. A waiver that cannot be evaluated
#   leaves its obligation in place.
package suma

default decision := {"allowed": false, "rule": "default", "reason": "no rule allows this", "obligations": []}

# A grant allows an action without obligations. The first name wins, so that every engine names the same grant.
decision := {"allowed": true, "rule": rule, "reason": reason, "obligations": []} if {
	[rule, reason] := min(grants)
}

# An effect also allows an action, but may carry obligations that a person must meet first.
decision := {"allowed": true, "rule": rule, "reason": reason, "obligations": owed} if {
	[rule, reason] := min(effects)
}

# --- principals

known if {
	input.tenant != ""
	input.principal.id != ""
}

holds contains scope if {
	known
	some scope in input.principal.scopes
}

# The key of the machine's owner holds every scope.
holds contains scope if {
	known
	some scope in every_scope
}

every_scope := data.settings.scopes if "*" in input.principal.scopes

# --- conversations

grants contains ["conversation.send", "the scope chat allows messages"] if {
	input.action == "conversation.send"
	holds.chat
	within_length
}

# The gateway lets only a person cancel who may act in the turn's session.
grants contains ["turn.cancel", "the scope chat allows cancelling"] if {
	input.action == "turn.cancel"
	holds.chat
}

grants contains ["session.create", "the scope chat allows sessions"] if {
	input.action == "session.create"
	holds.chat
	input.root == null
}

grants contains ["session.create.root", "the scopes chat and files:read allow sessions on a folder"] if {
	input.action == "session.create"
	holds.chat
	holds["files:read"]
	input.root != null
	input.root != ""
}

# The gateway lets only its own principal, or an operator, share a session.
grants contains ["session.share", "the scope chat allows sharing a session"] if {
	input.action == "session.share"
	holds.chat
}

# Updates of a task go to a webhook, so its host is a destination like that of a tool.
grants contains ["webhook.add", "the scope chat allows webhooks for one's own tasks"] if {
	input.action == "webhook.add"
	holds.chat
	is_string(input.destination)
	every blocked in data.settings.blocked_destinations { blocked != input.destination }
}

# Both bounds are needed: Rego orders null and booleans before numbers, and strings after them.
within_length if {
	input.length >= 0
	input.length <= data.settings.max_message_length
}

# --- reading
# The gateway shows only sessions that the principal may see. A yes is remembered, so it may depend on nothing else.

grants contains ["session.read", "the scope chat or sessions:read allows reading sessions"] if {
	input.action == "session.read"
	reads_sessions
}

reads_sessions if holds.chat

reads_sessions if holds["sessions:read"]

grants contains ["memory.read", "the scope memory allows reading one's own memory"] if {
	input.action == "memory.read"
	holds.memory
}

grants contains ["catalogue.read", "any scope allows seeing which tools and skills there are"] if {
	input.action == "catalogue.read"
	some _ in holds
}

# --- tools
# The cheap conditions come first: an engine stops at the first one that fails.

effects contains ["tool.execute.read", "the scope files:read allows reading on this machine"] if {
	input.action == "tool.execute"
	reads_here
	holds["files:read"]
	runnable
}

effects contains ["tool.execute.effect", "the scope files:write allows changes and external effects"] if {
	input.action == "tool.execute"
	has_effect
	holds["files:write"]
	runnable
}

effects contains ["tool.execute.scoped", "the principal holds the tool's own scope"] if {
	input.action == "tool.execute"
	holds_own_scope
	sound
}

# A separate rule: regopy runs a loop before it checks the conditions beside it.
holds_own_scope if {
	some own in data.settings.tool_scopes
	own.tool == input.tool
	holds[own.scope]
}

runnable if {
	every own in data.settings.tool_scopes { own.tool != input.tool }
	sound
}

sound if {
	input.paths_in_scope == true
	input.effect_class in data.settings.effect_classes
	some allowed in input.allowed_tools
	allowed in {"*", input.tool}
	unblocked
	every blocked in data.settings.blocked_destinations { blocked != input.destination }
}

unblocked if {
	input.tool != ""
	every blocked in data.settings.blocked_tools { blocked != input.tool }
}

effects contains ["multimodal.tool.execute", "the capability is allowed, and within the tenant's quota"] if {
	input.action == "multimodal.tool.execute"
	holds["files:write"]
	input.cost_tier in data.settings.multimodal_tiers
	stands_in
	within_quota
	usable
	reachable
}

reachable if {
	input.tool != ""
	every blocked in data.settings.blocked_destinations { blocked != input.destination }
}

usable if {
	input.provider != ""
	every blocked in data.settings.blocked_providers { blocked != input.provider }
}

# Another candidate than the first one: only where the settings say so.
stands_in if input.fallback == false

stands_in if data.settings.multimodal_fallback == true

within_quota if input.paid == false

within_quota if {
	input.paid_today >= 0
	input.paid_today <= data.settings.multimodal_paid_daily
}

reads_here if {
	input.mutates == false
	input.leaves_machine == false
}

has_effect if input.mutates == true

has_effect if input.leaves_machine == true

# --- memory

grants contains ["provenance.store_full_prompt", "the settings let full prompts be kept"] if {
	input.action == "provenance.store_full_prompt"
	holds["files:write"]
	data.settings.full_prompts == true
}

grants contains ["memory.write.own", "the scope memory allows writing one's own memory"] if {
	input.action == "memory.write"
	input.user == input.principal.id
	writable
}

grants contains ["memory.write.any", "the owner's key may write the memory of any person in its tenant"] if {
	input.action == "memory.write"
	"*" in input.principal.scopes
	input.user != ""
	writable
}

writable if {
	holds.memory
	input.kind in data.settings.memory_kinds
}

# --- the committee
# architecture.md 8 asks whether the committee is required. There "required" is the stricter answer, but anything that is not
# exactly true reads as false. So the rule is inverted: only a clear "exempt" skips the committee.

grants contains ["committee.exempt", "the plan only reads, costs nothing and stays on this machine"] if {
	input.action == "committee.exempt"
	reads_here
	input.costs_money == false
	known
}

# --- people's decisions and the workspace

grants contains ["approval.decide.deny", "the scope chat allows refusing an approval"] if {
	input.action == "approval.decide"
	holds.chat
	input.verdict == "deny"
}

grants contains ["approval.decide.allow", "the scope files:write allows approving a change"] if {
	input.action == "approval.decide"
	holds["files:write"]
	input.verdict in {"approve", "override"}
}

# A resolution changes the recorded state of the world, so it needs the same scope as a change.
grants contains ["effect.resolve", "the scope files:write allows resolving an unknown effect"] if {
	input.action == "effect.resolve"
	holds["files:write"]
	input.verdict in {"happened", "did_not_happen"}
}

effects contains ["workspace.commit", "the scope files:write allows committing staged changes"] if {
	input.action == "workspace.commit"
	holds["files:write"]
}

grants contains ["workspace.rollback", "the scope files:write allows rolling back"] if {
	input.action == "workspace.rollback"
	holds["files:write"]
}

grants contains ["workspace.purge", "the scope files:write allows deleting undo data"] if {
	input.action == "workspace.purge"
	holds["files:write"]
}

grants contains ["workspace.read", "the scope files:read allows contents of a diff"] if {
	input.action == "workspace.read"
	holds["files:read"]
}

grants contains ["workspace.example", "the scope files:write allows example folders"] if {
	input.action == "workspace.example"
	holds["files:write"]
}

# --- files that a conversation produced, and uploads

# They may contain anything that tools have read.
grants contains ["asset.read", "the scope files:read allows downloads of assets"] if {
	input.action == "asset.read"
	holds["files:read"]
}

# Uploads. The gateway lets a principal change only its own.
grants contains ["asset.write", "the scope files:write allows uploads"] if {
	input.action == "asset.write"
	holds["files:write"]
}

grants contains ["asset.delete", "the scope files:write allows deleting uploads"] if {
	input.action == "asset.delete"
	holds["files:write"]
}

# --- administration

grants contains ["admin", "the scope admin allows administration"] if {
	administers
	ordinary
	holds.admin
}

# A new root exposes part of this machine, so the scope admin does not include it.
grants contains ["admin.roots", "the scope admin.roots allows changing roots"] if {
	administers
	area == "roots"
	holds["admin.roots"]
}

# Each administrative action has a scope of the same name.
grants contains ["admin.scoped", "the principal holds the action's own scope"] if {
	administers
	ordinary
	holds[input.action]
}

# Other tenants are administered only from the platform's own, whatever another tenant's keys hold.
grants contains ["admin.tenants", "the scope admin.tenants allows administering every tenant"] if {
	administers
	area == "tenants"
	input.tenant in data.settings.platform_tenants
	holds["admin.tenants"]
}

administers if split(input.action, ".")[0] == "admin"

ordinary if {
	area != "roots"
	area != "tenants"
	area != "metrics"
	area != "settings"
	area != "tools"
}

# Figures, settings and the tools of other servers are those of a whole process, and so of every tenant.
ordinary if {
	area in {"metrics", "settings", "tools"}
	input.tenant in data.settings.platform_tenants
}

area := split(input.action, ".")[1]

# --- obligations

obligations := {"approval", "human_sees_payload"}

owed := [obligation | some obligation in (obligations - waived)]

waived contains "approval" if input.approved == true

waived contains "human_sees_payload" if {
	input.approved == true
	input.payload_seen == true
}

# Once untrusted content or a secret was touched, a person must see the whole payload that leaves the machine.
waived contains "human_sees_payload" if input.leaves_machine == false

waived contains "human_sees_payload" if {
	input.touched.untrusted == false
	input.touched.secret == false
}

# A commit stays in the workspace, and its approval shows the diff.
waived contains "human_sees_payload" if input.action == "workspace.commit"

# Mode `all` asks before every step; the other modes run steps that change nothing.
waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl in {"key", "bypass"}
	input.mutates == false
}

# A person's facts change without a question, unless the session has read texts of others, which may ask for it.
waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl in {"key", "bypass"}
	input.tool in data.settings.memory_tools
	input.touched.untrusted == false
	input.touched.secret == false
}

# The call itself was approved as a tool; here policy only chooses among its providers.
waived contains "approval" if input.action == "multimodal.tool.execute"

# Mode `bypass` runs staged effects, whose final diff is still approved, and the tools that the settings name.
waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl == "bypass"
	input.effect_class == "staged"
}

waived contains "approval" if {
	input.action == "tool.execute"
	input.hitl == "bypass"
	input.tool in data.settings.unattended_tools
}
