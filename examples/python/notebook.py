# A notebook as a researcher would write it, in cells ("# %%") that Jupyter, VS Code and Spyder know. It needs pandas.

# %% A model, and a question. The result shows as a picture of its tree.
import asyncio
import subprocess

import pandas

import dts

model = dts.Model.built_in()  # dts.Model.from_hub("unsloth/DeepSeek-R1-Distill-Qwen-1.5B-GGUF:Q4_K_M")
problems = dts.examples()
result = model.run(problems[0]["question"], seed=1)
result

# %% Every token with its statistics: where did it hesitate?
tokens = result.tree.to_dataframe()
tokens.nlargest(5, "varentropy")[["segment", "position", "text", "entropy", "varentropy"]]

# %% How does the tree grow? Events come while it decodes.
live = pandas.Series(
    {event.step: event.live for event in model.start(problems[0]["question"], seed=1) if event.type == "step"},
    name="live branches",
)
live.describe()

# %% Methods side by side, each with all questions in one batch.
rows = []
for method in ("standard", "self-consistency", "dts-greedy", "dts-stable"):
    answered = model.run_many([problem["question"] for problem in problems[:6]], method=method, seed=0)
    for problem, found in zip(problems, answered):
        rows.append(
            {
                "method": method,
                "right": dts.answers.equivalent(found.answer, problem["answer"]),
                "tokens": found.account.unique_tokens,
                "steps": found.account.steps,
                "sharing": found.account.sharing_ratio,
                "disagreement": found.disagreement,
            }
        )
methods = pandas.DataFrame(rows)
methods.groupby("method", sort=False)[["right", "tokens", "steps", "sharing"]].mean()


# %% A sweep over a threshold, as many at once as the model takes.
async def sweep(values):
    runs = [model.arun(problems[1]["question"], tau_v=value, seed=0) for value in values]
    return {value: found.account.branch_events for value, found in zip(values, await asyncio.gather(*runs))}


# In a notebook, where a loop runs already: decisions = await sweep(...)
decisions = pandas.Series(asyncio.run(sweep([0.5, 1.0, 1.5, 2.0])), name="decisions")
decisions

# %% A measurement that survives the notebook: dts eval keeps it in one file.
subprocess.run(
    "dts eval --dataset nano-bench-mini --limit 2 --methods standard,dts-greedy --seeds 0 -o notebook.db",
    shell=True, check=True, capture_output=True,
)  # fmt: skip
kept = dts.results.read("notebook.db")
kept.groupby("method").unique_tokens.mean()

# %% And one tree of it, to look at.
dts.results.tree("notebook.db", kept.iloc[0].to_dict())
