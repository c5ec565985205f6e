"""Other right answers to exercise 1, `feed_forward`."""

from gradekit.checks import Alternatives

right = Alternatives("ff_")

right("functional_relu", "torch.relu(self.linear1(x))", "F.relu(self.linear1(x))")
right("clamp", "torch.relu(self.linear1(x))", "self.linear1(x).clamp(min=0)")

right("layers_in_another_order_and_start").source("""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.activation = nn.ReLU()
        self.drop = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        for layer in (self.linear1, self.linear2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.linear2(self.drop(self.activation(self.linear1(x))))
""")

right("sequential_of_the_same_layers").source("""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.steps = nn.Sequential(self.linear1, nn.ReLU(), nn.Dropout(dropout), self.linear2)

    def forward(self, x):
        return self.steps(x)
""")

right("by_hand").source("""
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.p = dropout

    def forward(self, x):
        hidden = torch.einsum("bld,fd->blf", x, self.linear1.weight) + self.linear1.bias
        hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
        hidden = F.dropout(hidden, self.p, training=self.training)
        return hidden @ self.linear2.weight.T + self.linear2.bias
""")
