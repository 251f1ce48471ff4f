"""The site: committed results of published runs, and the pages that show them."""
